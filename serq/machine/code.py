"""Expressions become Python functions.

`Writer` turns an expression into Python source; a `Scope` says how each thing that is read at a
moment is reached (an attribute, a variable, live state, a random stream). Generated functions see
only `NAMES` and what they are lent, never the author's text.

Two forms are written: a *value* (a float; tests give 1.0 or 0.0) and a *truth* (anything Python can
branch on), so that comparisons under `&&`, `? :` or a guard cost no conversion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any, Protocol

from serq import values
from serq.diagnostics import InternalError
from serq.ir.expr import (
    Attr,
    Binary,
    Conditional,
    Draw,
    Expr,
    Fold,
    Func,
    Item,
    Local,
    LoopName,
    Num,
    Observable,
    RegisterRead,
    RequestField,
    Summary,
    Survey,
    Unary,
    Var,
    children,
)

NAMES: Mapping[str, Any] = {
    "__builtins__": {},
    "inf": values.INF,
    "nan": values.NAN,
    "divide": values.divide,
    "power": values.power,
    "float": float,
    "int": int,
    "len": len,
    "max": max,
    "min": min,
    "range": range,
    "sorted": sorted,
    "sum": sum,
    **{f"f_{name}": function for name, function in values.FUNCTIONS.items()},
}
"""All that generated expressions may call."""

COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}

# Python's own parser refuses about two hundred nested parentheses.
_DEEPEST = 60


class Scope(Protocol):
    """How the things an expression reads are reached; each method returns Python source."""

    def attribute(self, name: str) -> str: ...
    def variable(self, name: str) -> str: ...
    def register(self, engine: str, name: str) -> str: ...
    def requested(
        self, node: RegisterRead | Item | LoopName | RequestField | Survey, writer: Writer
    ) -> str: ...
    def local(self, name: str) -> str: ...
    def observable(self, node: Observable, write: Callable[[Expr], str]) -> str: ...
    def summary(self, node: Summary, write: Callable[[Expr], str]) -> str: ...
    def draw(self, node: Draw, parameters: str) -> str: ...


class Writer:
    """Writes expressions of one function; `parameters` are that function's.

    Very deep parts become functions of their own (`subs`) with the same parameters, evaluated where
    they stand, so that draws and `&&` keep their order.
    """

    def __init__(self, scope: Scope, parameters: str, prefix: str = "sub") -> None:
        self.scope = scope
        self.parameters = parameters
        self.prefix = prefix
        self.subs: list[str] = []

    def _sub(self, body: str) -> str:
        name = f"{self.prefix}_{len(self.subs)}"
        self.subs.append(f"def {name}({self.parameters}):\n    return {body}\n")
        return f"{name}({self.parameters})"

    def value(self, e: Expr, depth: int = 0) -> str:
        """Source of `e` as a float, safe to put anywhere (an atom or parenthesised)."""
        if depth > _DEEPEST:
            return self._sub(self.value(e, 0))
        d = depth + 1
        match e:
            case Num(value=value):
                return number(value)
            case Attr(name=name):
                return self.scope.attribute(name)
            case Var(name=name):
                return self.scope.variable(name)
            case RegisterRead(engine=engine, name=name, index=None):
                return self.scope.register(engine, name)
            case RegisterRead() | Item() | LoopName() | RequestField() | Survey():
                return self.scope.requested(e, self)
            case Local(name=name):
                return self.scope.local(name)
            case Observable():
                return self.scope.observable(e, lambda inner: self.value(inner, d))
            case Summary():
                return self.scope.summary(e, lambda inner: self.value(inner, d))
            case Draw(arguments=arguments):
                inner = ", ".join(self.value(a, d) for a in arguments)
                return self.scope.draw(e, inner)
            case Func(function=function, arguments=arguments):
                inner = ", ".join(self.value(a, d) for a in arguments)
                return f"f_{function}({inner})"
            case Fold(kind=kind, terms=terms):
                return self._fold(kind, terms, d)
            case Unary(operator="-", operand=operand):
                # What is counted is an int here, and has no -0; a product with a float has one.
                return f"(-1.0 * {self.value(operand, d)})"
            case Conditional(test=test, then=then, otherwise=otherwise):
                return f"({self.value(then, d)} if {self.truth(test, d)} else {self.value(otherwise, d)})"
            case Binary(operator="^", left=left, right=right):
                return f"power({self.value(left, d)}, {self.value(right, d)})"
            case Binary(operator="/", left=left, right=Num(value=by)) if by != 0:
                return f"({self.value(left, d)} / {number(by)})"
            case Binary(operator="/", left=left, right=right):
                return f"divide({self.value(left, d)}, {self.value(right, d)})"
            case Binary(operator=op, left=left, right=right) if op in ("+", "-", "*"):
                return f"({self.value(left, d)} {op} {self.value(right, d)})"
            case Binary() | Unary():
                return f"(1.0 if {self.truth(e, d)} else 0.0)"
        raise InternalError(f"no code for {e!r}")

    def truth(self, e: Expr, depth: int = 0) -> str:
        """Source of `e` as a condition: any number but 0 is true, not-a-number included."""
        d = depth + 1
        match e:
            case Unary(operator="!", operand=operand):
                return f"(not {self.truth(operand, d)})"
            case Binary(operator="&&", left=left, right=right):
                return f"({self.truth(left, d)} and {self.truth(right, d)})"
            case Binary(operator="||", left=left, right=right):
                return f"({self.truth(left, d)} or {self.truth(right, d)})"
            case Binary(operator=op, left=left, right=right) if op in COMPARISONS:
                return f"({self.value(left, d)} {op} {self.value(right, d)})"
            case _:
                return self.value(e, depth)

    def _fold(self, kind: str, terms: tuple[Expr, ...], depth: int) -> str:
        # A sum of thousands of terms is one flat chain; nested calls would be too deep for Python.
        parts = [self.value(t, depth) for t in terms]
        if kind == "sum":
            return f"({' + '.join(parts)})"
        if len(parts) == 1:
            return parts[0]
        source = parts[0]
        for count, part in enumerate(parts[1:], start=1):
            if count % _DEEPEST == 0:
                source = self._sub(source)
            source = f"f_{kind}({source}, {part})"
        return source


def number(x: float) -> str:
    """A float as Python source that reads back exactly."""
    if x != x:
        return "nan"
    if x in (values.INF, -values.INF):
        return "inf" if x > 0 else "(-inf)"
    return repr(float(x)) if x >= 0 and str(x)[0] != "-" else f"({float(x)!r})"


def build(source: str, name: str, lent: Mapping[str, Any]) -> Any:
    """The function `name` defined by `source`, which sees `NAMES` and `lent`."""
    space: dict[str, Any] = {**NAMES, **lent}
    exec(_compiled(source, name), space)
    return space[name]


@lru_cache(maxsize=512)
def _compiled(source: str, name: str) -> CodeType:
    """Runs of one program under other inputs or seeds mostly have the same code."""
    return compile(source, f"<serq {name}>", "exec")


def compile_value(e: Expr, scope: Scope, parameters: str, lent: Mapping[str, Any]) -> Callable[..., float]:
    """`e` as a function of `parameters` (names separated by commas) that returns a number."""
    writer = Writer(scope, parameters)
    body = writer.value(e)
    source = "".join(writer.subs) + f"def value({parameters}):\n    return {body}\n"
    function: Callable[..., float] = build(source, "value", lent)
    return function


def compile_truth(e: Expr, scope: Scope, parameters: str, lent: Mapping[str, Any]) -> Callable[..., Any]:
    """`e` as a function whose result Python may branch on."""
    writer = Writer(scope, parameters)
    body = writer.truth(e)
    source = "".join(writer.subs) + f"def truth({parameters}):\n    return {body}\n"
    function: Callable[..., Any] = build(source, "truth", lent)
    return function


def reads(e: Expr | None, *kinds: type) -> bool:
    """Whether `e` contains a node of one of the given classes."""
    if e is None:
        return False
    stack = [e]
    while stack:
        node = stack.pop()
        if isinstance(node, kinds):
            return True
        stack.extend(children(node))
    return False


def variables(e: Expr | None) -> frozenset[str]:
    """The context variables that `e` reads."""
    found: set[str] = set()
    stack = [] if e is None else [e]
    while stack:
        node = stack.pop()
        if isinstance(node, Var):
            found.add(node.name)
        stack.extend(children(node))
    return frozenset(found)
