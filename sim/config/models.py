"""The outer shape of the files as pydantic models, and pydantic's errors in the words and places of the file."""

from __future__ import annotations

import re
from typing import Annotated, Any, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import ErrorDetails

from sim.config.document import MAX_TITLE, ConfigError, Document, Position, name_fault
from sim.config.values import nearest, shown, unknown_key

LANGUAGES = ("en", "zh-Hant")


class FileModel(BaseModel):
    """Base of every model of a file: nothing unknown, nothing coerced."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _checked_title(title: str) -> str:
    if fault := name_fault(title, MAX_TITLE):
        raise ValueError(fault)
    return title


TitleText = Annotated[str, AfterValidator(_checked_title)]


class _Title(FileModel):
    en: TitleText = ""
    zh: TitleText = Field("", alias="zh-Hant")

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        """A text checked here is blamed on `title`, which has no key `en` in the file."""
        return {"en": _checked_title(value)} if isinstance(value, str) else value

    def words(self) -> dict[str, str]:
        """{"en": ..., "zh-Hant": ...}"""
        return {"en": self.en or self.zh, "zh-Hant": self.zh or self.en}


TITLE_TEXT_SCHEMA = {
    "type": "string",
    "maxLength": MAX_TITLE,
    "pattern": r"^[^\u0000-\u001f\u007f-\u009f]*$",
}
TITLE_SCHEMA = {
    "anyOf": [
        TITLE_TEXT_SCHEMA,
        {
            "type": "object",
            "properties": dict.fromkeys(LANGUAGES, TITLE_TEXT_SCHEMA),
            "additionalProperties": False,
        },
    ]
}

Title = Annotated[_Title, WithJsonSchema(TITLE_SCHEMA)]
"""A title in both languages: {en: ..., zh-Hant: ...}; one language, or just a text, stands for both."""


def _checked_name(name: str) -> str:
    if not re.fullmatch(r"[\w.-]{1,80}", name):
        raise ValueError(f"{shown(name)} is no name; use letters, digits and _ . -")
    return name


Name = Annotated[str, AfterValidator(_checked_name)]
"""A name that is safe in file names and tables."""

LISTED = BeforeValidator(lambda value: value if isinstance(value, list) else [value])
Texts = Annotated[list[str], LISTED, Field(min_length=1)]
Numbers = Annotated[list[int], LISTED, Field(min_length=1)]
Values = Annotated[list[Any], LISTED, Field(min_length=1)]
"""Lists of at least one item, for which a single bare item may be written too."""

Model = TypeVar("Model", bound=BaseModel)


def validate(document: Document, model: type[Model]) -> Model:
    """The document as a `model`.

    Raises:
        ConfigError: for the first mistake in the order of the file.
    """
    try:
        return model.model_validate(document.data)
    except ValidationError as problem:
        errors = sorted(problem.errors(), key=lambda error: _rank(document, error))
        raise _explained(document, model, errors[0]) from None


def _rank(document: Document, error: ErrorDetails) -> tuple[bool, Position]:
    """Order of the file; what is missing comes last, as it may be there under a misspelt key."""
    return error["type"] == "missing", document.positions.get(error["loc"], (0, 0))


def _explained(document: Document, model: type[BaseModel], error: ErrorDetails) -> ConfigError:
    at, given = error["loc"], shown(error["input"])
    details = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            text = unknown_key(str(at[-1]), _keys(_model_at(model, at[:-1])))
        case "missing":
            text = "missing"
        case "literal_error":
            allowed = details["expected"].replace(" or ", ", ").replace("'", "").split(", ")
            text = f"{given} is not allowed; allowed: {', '.join(allowed)}{nearest(given, allowed)}"
        case "int_type":
            text = f"{given} is not a whole number"
        case "float_type" | "finite_number":
            text = f"{given} is not a number"
        case "string_type":
            text = f"{given} is not a text"
        case "list_type":
            text = f"{given} is not a list"
        case "dict_type" | "model_type":
            text = f"{given} is not a mapping of keys to values"
        case "greater_than_equal":
            text = f"{given} is too small; the least is {_number(details['ge'])}"
        case "less_than_equal":
            text = f"{given} is too large; the most is {_number(details['le'])}"
        case "too_short":
            text = "the list is empty"
        case "value_error":
            text = str(details["error"])
        case _:
            text = f"{given}: {error['msg']}"
    return document.error(at, text)


def _number(limit: float) -> float:
    """A limit, without decimals that are none."""
    return int(limit) if limit == int(limit) else limit


def _model_at(model: Any, at: tuple[int | str, ...]) -> Any:
    """The type of the value at key path `at` below `model`: a model, or the items of a list or mapping."""
    for step in at:
        if isinstance(model, type) and issubclass(model, BaseModel):
            field = next(field for name, field in model.model_fields.items() if step in (name, field.alias))
            model = field.annotation
        else:
            model = get_args(model)[-1]
        model = _without_none(model)
    return model


def _without_none(annotation: Any) -> Any:
    parts = [part for part in get_args(annotation) if part is not type(None)]
    if type(None) in get_args(annotation):
        annotation = parts[0]
    return get_args(annotation)[0] if hasattr(annotation, "__metadata__") else annotation


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]
