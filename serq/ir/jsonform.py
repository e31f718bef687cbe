"""A program as JSON and back: what `serq ir` writes and `serq run PROGRAM.json` reads.

In: `Program`, or text. Out: text, or `Program`. Every record is an object with its field names;
where several kinds of record may stand, `"node"` names the kind. Optional fields that are null are
left out. Numbers read back exactly, infinities and not-a-number are the texts "inf", "-inf", "nan". `"at"` is
`[line, column, end line, end column]` in the program's file (a fifth entry names another file), so
that messages about a program read from JSON still name places.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from sys import getrecursionlimit, setrecursionlimit
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import attrs
from cattrs import BaseValidationError, Converter
from cattrs.errors import AttributeValidationNote, IterableValidationNote
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from serq.diagnostics import Diagnostic, ProgramError, diagnose
from serq.ir import claim, expr, pool, schedule, server, stage, workload
from serq.ir.program import IR_VERSION, Program
from serq.source import Span

FORMAT = "serq program"

DEEPEST = 3000
"""Levels of brackets read. An expression takes two levels per operation, and checking allows fewer."""

_file: ContextVar[str] = ContextVar("file", default="")


def program_to_json(program: Program) -> str:
    """A program as JSON text, the same text for equal programs with equal spans."""
    token = _file.set(program.file)
    try:
        with _deep():
            body = _converter().unstructure(program)
            del body["version"]
            return _layout({"format": FORMAT, "version": program.version, **body}) + "\n"
    finally:
        _file.reset(token)


def program_from_json(text: str, name: str) -> Program:
    """Read what `program_to_json` wrote.

    name: what messages call the text. The result has not been checked (`serq.check.check_ir`).
    Raises ProgramError (SQ094x) when the text is not such a program.
    """
    body = _decode(text, name)
    if not isinstance(body, dict) or body.pop("format", None) != FORMAT:
        raise ProgramError([diagnose("SQ0941", path=name)])
    if body.get("version") != IR_VERSION:
        found = body.get("version", "unknown")
        raise ProgramError([diagnose("SQ0942", path=name, found=found, version=IR_VERSION)])
    file = body.get("file", "")
    token = _file.set(file if isinstance(file, str) else "")
    try:
        with _deep():
            return _converter().structure(body, Program)
    except BaseValidationError as error:
        raise ProgramError(list(_complaints(error))) from None
    finally:
        _file.reset(token)


def _decode(text: str, name: str) -> Any:
    """The JSON value of `text`, with the bad place in the message when it has none."""
    depth = deepest = 0
    for bracket in re.finditer(r"[][{}]", text):
        depth += 1 if bracket[0] in "[{" else -1
        deepest = max(deepest, depth)
    if deepest > DEEPEST:  # brackets within strings count too, which a program does not miss
        raise ProgramError([diagnose("SQ0944", path=name, limit=DEEPEST)])
    try:
        with _deep():
            return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        at = Span(error.lineno, error.colno, error.lineno, error.colno, name)
        raise ProgramError([diagnose("SQ0940", at, path=name, reason=error.msg)]) from None
    except ValueError as error:  # `NaN`, or an integer of thousands of digits
        raise ProgramError([diagnose("SQ0940", path=name, reason=str(error))]) from None


def _no_constant(word: str) -> Any:
    raise ValueError(f"`{word}` is no JSON value")


@contextmanager
def _deep() -> Iterator[None]:
    """Room for programs as deep as `DEEPEST`: converting takes up to four calls per level."""
    before = getrecursionlimit()
    setrecursionlimit(max(before, 6 * DEEPEST))
    try:
        yield
    finally:
        setrecursionlimit(before)


# ---------------------------------------------------------------- the converter

_ROOMS = (expr, schedule, server, stage, pool, workload, claim)


@cache
def _converter() -> Converter:
    """Rules for every record of the IR, made on first use."""
    made = Converter(forbid_extra_keys=True, detailed_validation=True)
    for room in _ROOMS:
        for kind in vars(room).values():
            if isinstance(kind, type) and attrs.has(kind):
                attrs.resolve_types(kind)
    tagged = {kind for room in _ROOMS for union in vars(room).values() for kind in _records_of(union)}

    def writer(kind: type) -> Callable[[Any], dict[str, Any]]:
        fields: Callable[[Any], dict[str, Any]] = make_dict_unstructure_fn(kind, made, **_left_out(kind))
        tag = {"node": kind.__name__} if kind in tagged else {}
        absent = {f.name for f in attrs.fields(kind) if f.default is None}
        return lambda value: (
            tag | {k: v for k, v in fields(value).items() if v is not None or k not in absent}
        )

    def reader(kind: type) -> Callable[[Any, Any], Any]:
        fields: Callable[[Any, Any], Any] = make_dict_structure_fn(
            kind, made, _cattrs_forbid_extra_keys=True, **_left_out(kind)
        )

        def read(value: Any, _: Any) -> Any:
            if not isinstance(value, dict):
                raise ValueError(f"is {_show(value)} where {kind.__name__} belongs")
            if kind in tagged and value.get("node") != kind.__name__:
                raise ValueError(f"is {_show(value.get('node'))} where {kind.__name__} belongs")
            return fields({k: v for k, v in value.items() if k != "node"}, kind)

        return read

    made.register_unstructure_hook_factory(attrs.has, writer)
    made.register_structure_hook_factory(attrs.has, reader)
    made.register_structure_hook_factory(_is_union, lambda union: _union_reader(union, made))
    made.register_structure_hook_factory(_is_tuple, lambda kind: _tuple_reader(kind, made))
    for scalar, read in ((float, _read_number), (int, _read_whole), (str, _read_text), (bool, _read_flag)):
        made.register_structure_hook(scalar, read)
    made.register_unstructure_hook(float, _write_number)
    made.register_structure_hook(Span, _read_span)
    made.register_unstructure_hook(Span, _write_span)
    return made


def _left_out(kind: type) -> dict[str, Any]:
    return {"source": override(omit=True)} if kind is Program else {}


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType)


def _records_of(union: Any) -> tuple[type, ...]:
    """The record classes of a closed union, () for anything else."""
    return tuple(k for k in get_args(union) if k is not NoneType) if _is_union(union) else ()


def _union_reader(union: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    """Reads `T | None`, or one of several records told apart by `node`."""
    kinds = _records_of(union)
    optional = NoneType in get_args(union)
    by_name = {kind.__name__: kind for kind in kinds}

    def read(value: Any, _: Any) -> Any:
        if value is None and optional:
            return None
        if len(kinds) == 1:
            return converter.structure(value, kinds[0])
        if not isinstance(value, dict) or "node" not in value:
            raise ValueError(f'is {_show(value)} where an object with a "node" belongs')
        if not isinstance(value["node"], str) or value["node"] not in by_name:
            raise ValueError(f"is {_show(value['node'])}, which cannot stand here")
        return converter.structure(value, by_name[value["node"]])

    return read


def _is_tuple(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _tuple_reader(kind: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    """Reads `tuple[T, ...]` from a list, and a pair from a list of two."""
    kinds = get_args(kind)

    def read_all(value: Any, _: Any) -> Any:
        if not isinstance(value, list):
            raise ValueError(f"is {_show(value)} where a list belongs")
        return tuple(converter.structure(value, list[kinds[0]]))  # type: ignore[valid-type]

    def read_pair(value: Any, _: Any) -> Any:
        if not isinstance(value, list) or len(value) != len(kinds):
            raise ValueError(f"is {_show(value)} where a list of {len(kinds)} belongs")
        return tuple(converter.structure(part, of) for part, of in zip(value, kinds, strict=True))

    return read_all if kinds[-1] is ... else read_pair


# ---------------------------------------------------------------- numbers, texts, places


def _write_number(value: float) -> int | float | str:
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    whole = int(value)
    # -0.0 and numbers that a whole number would write longer keep the form of a double.
    return whole if whole == value and abs(whole) < 1e16 and str(value) != "-0.0" else float(value)


def _read_number(value: Any, _: Any) -> float:
    if value in ("inf", "-inf", "nan"):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"is {_show(value)} where a number belongs")
    try:
        return float(value)
    except OverflowError:
        raise ValueError("is a number too large to be read") from None


def _read_whole(value: Any, _: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"is {_show(value)} where a whole number belongs")
    return value


def _read_text(value: Any, _: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"is {_show(value)} where a text belongs")
    return value


def _read_flag(value: Any, _: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"is {_show(value)} where true or false belongs")
    return value


def _write_span(at: Span) -> list[Any]:
    numbers = [at.line, at.column, at.end_line, at.end_column]
    return numbers if at.file == _file.get() else [*numbers, at.file]


def _read_span(value: Any, _: Any) -> Span:
    if isinstance(value, list) and 4 <= len(value) <= 5:
        line, column, end_line, end_column = value[:4]
        file = value[4] if len(value) == 5 else _file.get()
        if all(type(n) is int for n in value[:4]) and isinstance(file, str):
            return Span(line, column, end_line, end_column, file)
    raise ValueError(f"is {_show(value)} where [line, column, end line, end column] belongs")


# ---------------------------------------------------------------- messages and layout


def _complaints(error: BaseException, where: str = "") -> Iterator[Diagnostic]:
    """One message per fault, with its path in the JSON: `stages[0].execute.left`."""
    if isinstance(error, BaseValidationError):
        for inner in error.exceptions:
            yield from _complaints(inner, where + _step(inner))
        return
    extra = getattr(error, "extra_fields", None)
    if extra:
        for name in sorted(extra):
            yield diagnose("SQ0943", where=f"{where}.{name}".lstrip("."), reason="is no field of this record")
    elif isinstance(error, KeyError):
        yield diagnose("SQ0943", where=where.lstrip("."), reason="is missing")
    else:
        yield diagnose("SQ0943", where=where.lstrip(".") or "program", reason=_reason(error))


def _reason(error: BaseException) -> str:
    return str(error) if str(error).startswith("is ") else "cannot be read"


def _step(error: BaseException) -> str:
    for note in getattr(error, "__notes__", ()):
        if isinstance(note, AttributeValidationNote):
            return f".{note.name}"
        if isinstance(note, IterableValidationNote):
            return f"[{note.index}]"
    return ""


def _show(value: Any) -> str:
    """A JSON value in a message, cut short."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "…"


_WIDTH = 100


def _layout(value: Any, indent: int = 0, lead: int = 0) -> str:
    """JSON that people can read: what fits on one line stands on one line."""
    line = _on_one_line(value, _WIDTH - indent - lead)
    if line is not None:
        return line
    inner = "\n" + " " * (indent + 1)
    if isinstance(value, dict):
        keys = {k: json.dumps(k, ensure_ascii=False) + ": " for k in value}
        parts = [keys[k] + _layout(v, indent + 1, len(keys[k])) for k, v in value.items()]
        return "{" + inner + ("," + inner).join(parts) + "\n" + " " * indent + "}"
    return "[" + inner + ("," + inner).join(_layout(v, indent + 1) for v in value) + "\n" + " " * indent + "]"


def _on_one_line(value: Any, room: int) -> str | None:
    """The JSON of a value, None when a list or an object needs more than `room` columns.

    Stops as soon as it is too long, so that laying out a deep program stays linear in its size.
    """
    if not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    open_, close = "{}" if isinstance(value, dict) else "[]"
    parts = []
    room -= 2
    for item in value:
        key = json.dumps(item, ensure_ascii=False) + ": " if isinstance(value, dict) else ""
        text = _on_one_line(value[item] if isinstance(value, dict) else item, room - len(key))
        if text is None:
            return None
        parts.append(key + text)
        room -= len(parts[-1]) + 2
        if room < -2:  # no comma follows the last one
            return None
    return open_ + ", ".join(parts) + close
