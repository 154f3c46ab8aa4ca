"""How the numeric core is compiled: numba's settings, the two kinds of jitted function, and the bit instructions.

The cache folder is named by a hash of all sources that a kernel is made of, because a cached function does not notice
that a function of another module which it calls has changed (numba#1833).
"""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import codegen
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from sim import NOT_PLAYING

SOURCES = Path(__file__).parent


@functools.cache
def _core_digest() -> bytes:
    """Digest of numba's version and of every source that plays, but for the games' own files."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(SOURCES.rglob("*.py")):
        name = source.relative_to(SOURCES).as_posix()
        is_game = name.startswith("games/") and not source.name.startswith("_")
        if name.split("/")[0].removesuffix(".py") not in NOT_PLAYING and not is_game:
            digest.update(name.encode() + source.read_bytes())
    return digest.digest()


def _cache_folder(module: str) -> Path:
    """Where the kernels of a module's types are kept.

    The module is a game's, whose kernels then survive an edit of another game's file, or any other.
    """
    digest = hashlib.sha256(_core_digest())
    if module.startswith("sim.games."):
        digest.update((SOURCES / "games" / f"{module.rpartition('.')[2]}.py").read_bytes())
    return _kernels_root() / digest.hexdigest()[:16]


def cache_root() -> Path:
    """Where what can be made again is kept: beside the sources or, if that is read-only, in a temporary folder."""
    root = SOURCES.parent / ".cache"
    if os.access(root if root.exists() else root.parent, os.W_OK):
        return root
    return Path(tempfile.gettempdir()) / f"fairdeal-{os.getuid()}"


def _kernels_root() -> Path:
    """NUMBA_CACHE_DIR where that is set."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    return Path(given) if given is not None else cache_root() / "numba"


JIT: bool = not numba.config.DISABLE_JIT

OPTIONS = {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "forceinline": True,
    "error_model": "numpy",
    "_nrt": False,
}
"""Options of everything that only other jitted code calls. Without the first three a large kernel is 1.7 times slower.

`_nrt` off: arrays are not reference-counted, which took up to two thirds of a game's time (two locked instructions for
each array a function is given), and nothing may be allocated.
"""

helper = numba.njit(**OPTIONS)
"""A function called from jitted code only."""

OUTLINED = {**OPTIONS, "forceinline": False}
"""Options left out are those of the caller: a function is inlined unless it says that it is not."""

outlined = numba.njit(**OUTLINED)
"""A helper that stays a call of its own: large and rare, or used in many places."""

allocating = numba.njit(**{**OUTLINED, "_nrt": True})
"""An outlined helper that may allocate."""


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function that only other jitted code calls.

    numba optimises and assembles each function on its own, with all that it calls, before it does so again with each
    of its callers. A part is only linked: the kernel that it ends up in is optimised, once.
    """

    def finalize(self):
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name):
        return 0


@contextmanager
def _compiled_in_parts(kernel: str) -> Iterator[None]:
    """Let every function compiled meanwhile, but for the kernel of this name, be a part. Parts never run by themselves,
    so that they need no environment, where numba keeps what it raises errors with."""
    codegen = cpu_target.target_context.codegen()
    create_library, set_env = codegen.create_library, codegen.set_env
    codegen.create_library = lambda name: create_library(name) if name == kernel else _Part(codegen, name)
    codegen.set_env = lambda name, env: codegen._engine.is_symbol_defined(name) and set_env(name, env)
    try:
        yield
    finally:
        del codegen.create_library, codegen.set_env


class _Entry:
    """A function called from Python: cached on disk, runs without the global interpreter lock.

    It is compiled once for every module that its first argument's type comes from (a game's `Rules`), so that each
    game has a cache folder of its own.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._compiled: dict[str, Callable[..., Any]] = {}

    def __call__(self, *args: Any) -> Any:
        module = type(args[0]).__module__
        if module not in self._compiled:
            numba.config.CACHE_DIR = str(_cache_folder(module))
            compiler = numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
            self._compiled[module] = self._in_parts(compiler(self._function))
        return self._compiled[module](*args)

    @staticmethod
    def _in_parts(kernel: Any) -> Callable[..., Any]:
        """The kernel, which will compile, or be loaded, with everything it calls as parts of it."""
        compile_whole = kernel.compile

        def compile_in_parts(signature: Any) -> Any:
            with global_compiler_lock, _compiled_in_parts(kernel.py_func.__qualname__):
                return compile_whole(signature)

        kernel.compile = compile_in_parts
        return kernel


def entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function as called from Python (see `_Entry`)."""
    return _Entry(function) if JIT else function


def _has_bmi2() -> bool:
    """Whether the processor numba compiles for has pdep; without BMI2 that instruction would end the process."""
    return JIT and "+bmi2" in codegen.get_host_cpu_features()


@intrinsic
def _ctpop(typingctx, x):
    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), generate


@intrinsic
def _cttz(typingctx, x):
    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate


@intrinsic
def _ctlz(typingctx, x):
    def generate(context, builder, signature, args):
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate


@intrinsic
def _pdep(typingctx, source, mask):
    def generate(context, builder, signature, args):
        word = ir.IntType(64)
        function = builder.module.declare_intrinsic(
            "llvm.x86.bmi.pdep.64", fnty=ir.FunctionType(word, [word, word])
        )
        return builder.call(function, args)

    return types.int64(types.int64, types.int64), generate


if JIT:

    @helper
    def popcount(mask):
        """Number of set bits of an int64."""
        return _ctpop(mask)

    @helper
    def lowest(mask):
        """Position of the lowest set bit of an int64; 64 for 0."""
        return _cttz(mask)

    @helper
    def highest(mask):
        """Position of the highest set bit of a non-negative int64; -1 for 0."""
        return 63 - _ctlz(mask)

    if _has_bmi2():

        @helper
        def nth_bit(mask, n):
            """The n-th set bit (n from 0) of `mask`, as a mask of one bit."""
            return _pdep(1 << n, mask)

    else:

        @helper
        def nth_bit(mask, n):
            """The n-th set bit (n from 0) of `mask`, as a mask of one bit."""
            for _ in range(n):
                mask &= mask - 1
            return mask & -mask

else:

    def popcount(mask):
        """Number of set bits of an int64."""
        return int(mask).bit_count()

    def lowest(mask):
        """Position of the lowest set bit of an int64; 64 for 0."""
        return (int(mask) & -int(mask)).bit_length() - 1 if mask else 64

    def highest(mask):
        """Position of the highest set bit of a non-negative int64; -1 for 0."""
        return int(mask).bit_length() - 1

    def nth_bit(mask, n):
        """The n-th set bit (n from 0) of `mask`, as a mask of one bit."""
        mask = int(mask)
        for _ in range(n):
            mask &= mask - 1
        return mask & -mask
