"""Expressions of a program in C, over the records of `kernel.c`."""

from __future__ import annotations

from collections.abc import Mapping

from serq.diagnostics import InternalError
from serq.ir.expr import (
    Attr,
    Binary,
    Conditional,
    Draw,
    Expr,
    Fold,
    Func,
    Local,
    Num,
    Observable,
    RegisterRead,
    Unary,
    Var,
)
from serq.machine.code import COMPARISONS
from serq.machine.native.fragment import Native

ENGINE_READS = {
    "running.count": "((double)m->stages[ENGINE].present)",
    "running.decoding": "((double)m->decoding)",
    "running.kv_decode": "running_memory(m, 1)",
    "running.kv_prefill": "running_memory(m, 0)",
    "running.preempted": "((double)m->preempted)",
    "waiting.count": "waiting_count(m)",
    "waiting.admitted": "((double)m->admitted)",
    "batch.tokens": "m->batch_tokens",
    "batch.prefilled": "m->prefilled",
    "batch.decoding": "((double)m->decoders)",
    "batch.kv_decode": "batch_memory(m, 1)",
    "batch.kv_prefill": "batch_memory(m, 0)",
    "batch.attention": "m->attention",
}
RUN_READS = ENGINE_READS | {
    "decoding": "((double)m->sessions[i].decode)",
    "admission": "m->sessions[i].admission",
    "remaining": "m->sessions[i].remaining",
}
CLAIM_READS = {
    "tokens": "m->batch_tokens",
    "prefilled": "m->prefilled",
    "decoders": "((double)m->decoders)",
    "kv_decode": "batch_memory(m, 1)",
    "kv_prefill": "batch_memory(m, 0)",
    "attention": "m->attention",
    "residents": "((double)m->stages[ENGINE].present)",
    "demand": "demand(m)",
    "served": "m->served",
    "arrived": "((double)m->arrived)",
}


class ExpressionWriter:
    """Writes expressions; what a session has is in `A`, and the session is `i`.

    slots: of the attributes. numbers: filled with the parameters, in their order. source: whose draws an
    expression takes.
    """

    def __init__(self, native: Native, slots: Mapping[str, int]) -> None:
        self.native = native
        self.slots = slots
        self.numbers: list[float] = []
        self.source = "FROM_MACHINE"

    def value(self, e: Expr, reads: Mapping[str, str] = ENGINE_READS) -> str:
        """`e` as a double; reads: the variables of this moment."""
        match e:
            case Num(value=value):
                self.numbers.append(value)
                return f"m->P[{len(self.numbers) - 1}]"
            case Attr(name=name):
                return f"A[{self.slots[name]}]"
            case Var(name="now"):
                return "m->now"
            case Var(name=name):
                return reads[name]
            case RegisterRead(name=name):
                return f"m->registers[{self.register(name)}]"
            case Local(name=name):
                lets = [let.name for let in self.native.engine.schedule.lets]
                return f"m->lets[{lets.index(name)}]"
            case Observable():
                return self._observable(e)
            case Draw(law=law, arguments=arguments):
                session = "0" if self.source in ("FROM_MACHINE", "FROM_ARRIVALS") else "i"
                given = ", ".join(self.value(a, reads) for a in arguments)
                return f"draw_{law}(m, {session}, {self.source}, {given})"
            case Func(function=function, arguments=arguments):
                return f"f_{function}({', '.join(self.value(a, reads) for a in arguments)})"
            case Fold(kind="sum", terms=terms):
                return f"({' + '.join(self.value(t, reads) for t in terms)})"
            case Fold(kind=kind, terms=(first, *others)):
                text = self.value(first, reads)
                for other in others:
                    text = f"f_{kind}({text}, {self.value(other, reads)})"
                return text
            case Unary(operator="-", operand=operand):
                return f"(-1.0 * {self.value(operand, reads)})"
            case Conditional(test=test, then=then, otherwise=otherwise):
                arms = f"{self.value(then, reads)} : {self.value(otherwise, reads)}"
                return f"({self.truth(test, reads)} ? {arms})"
            case Binary(operator="^", left=left, right=right):
                return f"pow({self.value(left, reads)}, {self.value(right, reads)})"
            case Binary(operator="+" | "-" | "*" | "/" as operator, left=left, right=right):
                return f"({self.value(left, reads)} {operator} {self.value(right, reads)})"
            case Binary() | Unary():
                return f"({self.truth(e, reads)} ? 1.0 : 0.0)"
        raise InternalError(f"the compiled machine has no {e!r}")

    def truth(self, e: Expr, reads: Mapping[str, str]) -> str:
        """`e` as a condition: any number but 0 is true, not-a-number included."""
        match e:
            case Unary(operator="!", operand=operand):
                return f"(!{self.truth(operand, reads)})"
            case Binary(operator="&&" | "||" as operator, left=left, right=right):
                return f"({self.truth(left, reads)} {operator} {self.truth(right, reads)})"
            case Binary(operator=operator, left=left, right=right) if operator in COMPARISONS:
                return f"({self.value(left, reads)} {operator} {self.value(right, reads)})"
            case _:
                return f"({self.value(e, reads)} != 0)"

    def register(self, name: str) -> int:
        """The number of a register."""
        return [r.name for r in self.native.engine.registers].index(name)

    def _observable(self, node: Observable) -> str:
        name = node.place.name
        if node.function == "budget_left":
            return "budget_left(m)"
        if node.function in ("queue", "busy"):
            stage = self.native.stage(name)
            if node.function == "busy" and not stage:
                return "((double)m->batch_runs)"
            return f"((double)m->stages[{stage}].present)"
        p = self.native.pool(name)
        match node.function:
            case "used":
                return f"m->pools[{p}].used"
            case "free":
                return f"(m->pools[{p}].cap - m->pools[{p}].used)"
            case "holders" | "queued":
                return f"((double)m->pools[{p}].{node.function})"
            case "blocksize":
                return f"m->pools[{p}].block"
            case "cachedin":
                return f"own_units(m, i, {p})"
        raise InternalError(f"the compiled machine does not read {node.function}")
