"""Claims, judged as the text reads (semantics, section 9)."""

from __future__ import annotations

from attrs import define, evolve

from serq.ir.claim import AtEnd, Claim, EveryIteration
from serq.machine.plain.evaluate import Here, engine_of, is_true, members_of, stage_at, value
from serq.machine.plain.state import Engine, Machine, Session
from serq.machine.records import Outcome
from serq.machine.witness import extremes_of, show_witness

KINDS = {"EveryIteration": "every_iteration", "SomeIteration": "some_iteration", "AtEnd": "at_end"}


@define
class Verdict:
    """What is known of a claim. broken_by: the first session that does not satisfy its `given`."""

    claim: Claim
    checked: int = 0
    failures: int = 0
    first: float | None = None
    broken_by: int | None = None
    witness: str | None = None


def _witness(v: Verdict, here: Here) -> str | None:
    """Which requests were the extreme ones in the iteration that decided the claim."""
    found = []
    for survey in extremes_of(v.claim.value):
        requests = members_of(engine_of(survey.engine, here), survey.among)
        values = [(value(survey.body, evolve(here, names={survey.request: r})), r) for r in requests]
        extreme = value(survey, here)
        serial = next((r.session.serial for number, r in values if number == extreme), None)
        found.append((survey, extreme, serial))
    return show_witness(v.checked, found) if found else None


def watch(m: Machine) -> list[Verdict]:
    """Look at every session and every iteration from now on."""
    verdicts = [Verdict(claim) for claim in m.program.claims]

    def look_at_session(s: Session) -> None:
        for v in verdicts:
            given = v.claim.given
            if given is not None and v.broken_by is None:
                satisfied = is_true(given, Here(m, attributes=s.attributes))
                v.broken_by = None if satisfied else s.serial

    def look_at_iteration(e: Engine) -> None:
        for v in verdicts:
            if isinstance(v.claim, AtEnd) or stage_at(v.claim.engine, Here(m)) is not e:
                continue
            if v.broken_by is None:
                holds = is_true(v.claim.value, Here(m, engine=e))
                v.checked += 1
                v.failures += not holds
                if v.first is None and holds != isinstance(v.claim, EveryIteration):
                    v.first = m.now
                    v.witness = _witness(v, Here(m, engine=e))

    m.on_session.append(look_at_session)
    m.on_start.append(look_at_iteration)
    return verdicts


def outcome(m: Machine, v: Verdict) -> Outcome:
    """The answer, once the run is over."""
    note = None
    if v.broken_by is not None:
        result, note = "out_of_scope", f"session {v.broken_by} fails `given`"
    elif isinstance(v.claim, AtEnd) and m.live:
        result, note = "not_evaluated", f"{m.live} session{'s' if m.live > 1 else ''} live at the end"
    elif isinstance(v.claim, AtEnd):
        v.checked = 1
        if not is_true(v.claim.value, Here(m)):
            v.failures, v.first = 1, m.now
        result = "fails" if v.failures else "holds"
    elif isinstance(v.claim, EveryIteration):
        result = "fails" if v.failures else "holds"
    else:
        result = "not_witnessed" if v.first is None else "witnessed"
    if v.broken_by is None and v.witness is not None:
        note = v.witness
    kind = KINDS[type(v.claim).__name__]
    return Outcome(v.claim.name, kind, result, v.checked, v.failures, v.first, note)
