"""Prefix caches: what ended holds leave behind, who uses it, what goes first (semantics, section 6)."""

from __future__ import annotations

from attrs import evolve

from serq.machine.plain import lines
from serq.machine.plain.evaluate import Here, is_true, value
from serq.machine.plain.state import Entry, Line, Machine, Part, Pool, Session


def consume(pool: Pool, s: Session, most: float) -> float:
    """The session's entry is used, up to `most` units; what is left of it is dead."""
    entry = pool.entry_of(s)
    if entry is None:
        return 0.0
    used = min(entry.units, most)
    entry.units -= used
    entry.owner, entry.copied = object(), s.attributes.copy()
    if entry.units <= 0:
        pool.entries.remove(entry)
    return used


def leave(m: Machine, pool: Pool, s: Session, units: float) -> None:
    """A prefix stays behind, in place of the session's entry; no units change nothing."""
    if units > 0:
        drop(pool, s)
        pool.entries.append(Entry(s, units, m.now, m.take_number(), s.attributes.copy(), owner=s))


def drop(pool: Pool, s: Session) -> None:
    """The session's own entry goes."""
    entry = pool.entry_of(s)
    if entry is not None:
        pool.entries.remove(entry)


def enlarge(m: Machine, part: Part, units: float) -> None:
    """Allocate more to a part, for which there is room once enough is evicted."""
    make_room(m, part.pool, units)
    part.units += units


def make_room(m: Machine, pool: Pool, units: float) -> None:
    """Evict prefixes, the least first, until `units` more fit beside those that stay."""
    while pool.entries and pool.used + units + pool.cached > pool.rule.cap:

        def rank(entry: Entry) -> tuple[list[float], int]:
            here = Here(m, entry.user, entry.attributes, m.draws, subject=entry)
            return [value(key, here) for key in pool.rule.evict_keys or ()], entry.number

        _evict(m, pool, min(pool.entries, key=rank))


def _evict(m: Machine, pool: Pool, entry: Entry) -> None:
    """The entry goes, or its last block."""
    gone = entry.units if pool.rule.block is None else min(entry.units, pool.rule.block)
    piece = evolve(entry, units=gone)
    pool.tally.evicted_units += gone
    entry.units -= gone
    if entry.units <= 0:
        pool.tally.evicted_entries += 1
        pool.entries.remove(entry)
    if pool.rule.spill is not None:
        _spill(m, pool, piece)


def _spill(m: Machine, pool: Pool, piece: Entry) -> None:
    """What is evicted appears in the tier at once; the job that carries it keeps nobody waiting.

    Room is made in the tier for what is there before, so that the last piece may exceed its cap.
    """
    spill = pool.rule.spill
    assert spill is not None
    here = Here(m, piece.user, piece.attributes, m.draws, subject=piece)
    if not is_true(spill.condition, here):
        return
    pool.tally.spills += 1
    work = value(spill.work, here)
    tiers, stages, index = m.pools[spill.tier], m.stages[spill.via], pool.index or 0
    tier = tiers[index] if len(tiers) > 1 else tiers[0]
    stage = stages[index] if len(stages) > 1 else stages[0]
    make_room(m, tier, 0.0)
    entry = tier.entry_of(piece.owner)
    if entry is not None:
        tier.entries.remove(entry)
    units = piece.units + (entry.units if entry else 0.0)
    tier.entries.append(evolve(piece, units=units, released=m.now, number=m.take_number()))
    if work > 0:
        if not isinstance(stage, Line):
            m.fail("SQ0633", spill.at, name=spill.via)
        lines.join(m, stage, None, work)
