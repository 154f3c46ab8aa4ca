"""Which versions of what made a result."""

from __future__ import annotations

import importlib.metadata
import platform
import tomllib
from pathlib import Path

PACKAGES = ("numba", "numpy", "scipy", "pandas")
"""Packages that a number could depend on."""


def fairdeal() -> str:
    """This project's version: of the installed package or, when run from its sources, of its pyproject.toml."""
    try:
        return importlib.metadata.version("fairdeal")
    except importlib.metadata.PackageNotFoundError:
        project = Path(__file__).parents[1] / "pyproject.toml"
        version: str = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
        return version


def versions() -> dict[str, str]:
    """Name -> version: this project, Python, and the packages that numbers could depend on."""
    packages = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"fairdeal": fairdeal(), "python": platform.python_version(), **packages}
