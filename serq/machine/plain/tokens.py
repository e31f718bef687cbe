"""Client times: when the tokens of a turn come out (semantics, section 10).

A turn's tokens are the ends of its prefills and of the iterations that give it a decode token. The end of
a prefill is the first token, in place of an earlier one, until the first is settled: by a decode that
follows at once or by its first token. What a prefill repeats after a preemption leaves a gap, too.
"""

from __future__ import annotations

from serq.machine.plain.state import Engine, Machine, Session, Tokens


def start_turn(m: Machine, s: Session) -> None:
    """A turn begins now, without a token."""
    m.turns += 1
    s.attributes["turn_no"] += 1.0
    s.tokens = Tokens(m.now, under_way=True)


def end_turn(m: Machine, s: Session) -> None:
    """Record the turn's response time, its pace if it has two tokens, and what is still open."""
    know_first(m, s)
    tokens = s.tokens
    if tokens.first is not None and tokens.count >= 2:
        _record(m, s, "tpot", (m.now - tokens.first) / (tokens.count - 1))
    _record(m, s, "response", m.now - tokens.started)
    tokens.under_way = False


def add_token(m: Machine, s: Session, engine: Engine) -> None:
    """A decode gives a token: nothing can replace the first one now."""
    tokens = s.tokens
    if tokens.first is None:
        tokens.first = m.now
    else:
        _leave_gap(m, s, engine)
    tokens.count += 1
    tokens.last, tokens.last_at, tokens.decoded = m.now, engine, True
    know_first(m, s)


def end_prefill(m: Machine, s: Session, engine: Engine) -> None:
    """The last piece of a prefill is computed."""
    tokens = s.tokens
    if tokens.decoded or tokens.lost_at is engine:
        _leave_gap(m, s, engine)
    if tokens.decoded or tokens.known:
        tokens.count += 1
    else:
        tokens.first, tokens.count = m.now, 1
    tokens.last, tokens.last_at, tokens.lost_at = m.now, engine, None


def _leave_gap(m: Machine, s: Session, engine: Engine) -> None:
    engine.tally.gaps.append(m.now - s.tokens.last)
    engine.tally.gap_counts.append(1)


def begin_decode(m: Machine, s: Session) -> None:
    """A decode of whatever length begins: a first token of this very instant is the first for good."""
    if s.tokens.first == m.now:
        know_first(m, s)


def know_first(m: Machine, s: Session) -> None:
    """Record the time to the first token, once a turn."""
    tokens = s.tokens
    if tokens.under_way and not tokens.known and tokens.first is not None:
        tokens.known = True
        _record(m, s, "ttft", tokens.first - tokens.started)


def _record(m: Machine, s: Session, name: str, value: float) -> None:
    m.client[name].add(m.now, s.serial, int(s.attributes["turn_no"]), value)
