"""What is told of a token that begins nothing where a statement or an item should begin."""

from __future__ import annotations

from attrs import evolve

from serq.diagnostics import Note
from serq.spelling import closest
from serq.syntax import habits
from serq.syntax.surprise import PLACES, Mistake, Surprise, either
from serq.syntax.tokens import END, NUMBER, STRING, WORD, Tokens

_OPERATORS = frozenset({"+", "-", "*", "/", "^", "?", "<", "<=", ">", ">=", "==", "!=", "&&", "||"})
_CLAUSES = frozenset({"reserve", "reuse", "cache", "lease"})

_GIVES = {
    "statements": "set",
    "schedule": "set",
    "engine": "state",
    "main": "let",
    "program": "let",
    "library": "let",
}
"""By room: the word that gives a name its value there."""


def unclosed(s: Surprise) -> Mistake | None:
    """The text ends, or the next item begins, inside a block."""
    if s.block is None:
        return None
    at_end = s.kind == END
    next_item = (
        s.first == s.index
        and s.kind == WORD
        and bool(s.tokens.unclosed)
        and s.text in s.outside
        and s.text not in s.here
    )
    if not at_end and not next_item:
        return None
    suspect = _leans_left(s.tokens)
    if suspect is not None:
        note = Note("the `}` of this block may be missing: the next `}` stands further left", s.at(suspect))
    else:
        note = Note("the block begins here", s.at(s.block))
    return Mistake("SQ0112", s.at(), {"read": s.shown()}, notes=(note,), closes=next_item)


def _leans_left(tokens: Tokens) -> int | None:
    """The first block to end with a `}` left of the line that opens it: layout that contradicts."""
    margin: dict[int, int] = {}
    for line, column in zip(tokens.lines, tokens.columns, strict=True):
        margin.setdefault(line, column)
    found: int | None = None
    for opening, closing in tokens.partner.items():
        if tokens.kinds[opening] != "{" or tokens.lines[opening] == tokens.lines[closing]:
            continue
        column = tokens.columns[closing]
        leans = margin[tokens.lines[closing]] == column < margin[tokens.lines[opening]]
        if leans and (found is None or closing < tokens.partner[found]):
            found = opening
    return found


def beginning(s: Surprise) -> Mistake | None:
    """A token that begins nothing in this room."""
    if s.first != s.index or s.room == "expression":
        return None
    kind = s.kind
    if kind == ";":
        return Mistake("SQ0122", s.at())
    if kind == "}" and s.room == "schedule" and s.block is not None:
        return Mistake("SQ0125", s.at(s.block))
    if kind in (")", "]", "}"):
        return Mistake("SQ0123", s.at(), {"read": s.text})
    if kind == WORD:
        return _word_begins(s, s.tokens.kinds[s.index + 1])
    if s.room == "statements" and kind != "{":
        return _expression(s)
    return Mistake("SQ0120", s.at(), {"read": s.clipped, "thing": s.thing}, f"begin with {either(s.here)}")


def _word_begins(s: Surprise, after: str) -> Mistake | None:
    """A word that begins nothing in this room; `after` is the kind of the token that follows."""
    word, at = s.text, s.at()
    if word == "else":
        return Mistake("SQ0143", at, {"read": word})
    if word in _CLAUSES and s.room == "statements":
        return Mistake("SQ0146", at, {"read": word})
    if s.room == "schedule" and word in ("while", "loop", "for", "repeat", "do"):
        return Mistake("SQ0126", at)
    if s.room == "pool" and word == "admit" and s.block is not None:
        return Mistake("SQ0142", at, {"name": s.tokens.texts[s.block - 1]})
    if s.room in ("main", "program") and word == "run" and after == "{":
        return Mistake("SQ0131", s.at(s.index + 1))
    no_such = {"read": s.clipped, "thing": s.thing}
    if s.room == "program" and word == "main":
        return Mistake("SQ0120", at, no_such, "write `fn main() { … }`")
    if s.room == "device":
        help = f"write `{word} cap …;` for a capacity, `{word} (x) = …;` for a time resource"
        return Mistake("SQ0120", at, no_such, help)
    verb = _GIVES.get(s.room)
    if after == "=" and verb:
        return Mistake("SQ0120", at, no_such, f"write `{verb} {word} = …;`")
    if after in _OPERATORS and s.room == "statements":
        operator = after + s.tokens.kinds[s.index + 2]
        if operator in ("+=", "-=", "*=", "/="):
            instead = f"set {word} = {word} {after} …;"
            return Mistake("SQ0140", s.at(s.index + 1), {"read": operator, "instead": instead})
        if operator in ("++", "--"):
            instead = f"set {word} = {word} {after} 1;"
            return Mistake("SQ0140", s.at(s.index + 1), {"read": operator, "instead": instead})
        return _expression(s)
    return _unknown(s)


def _expression(s: Surprise) -> Mistake | None:
    """A value where a statement belongs."""
    if s.kind not in (WORD, NUMBER, STRING, "(", "-", "+", "!", "~"):
        return None
    if s.block is not None and _definition_of(s.tokens, s.block) is not None:
        help = "without the `;` the braces of the definition hold this expression"
    else:
        help = "say what happens to it: `set NAME = …;` or `observe NAME = …;`"
    return Mistake("SQ0119", s.at(), help=help)


def _definition_of(tokens: Tokens, block: int) -> str | None:
    """The name of the definition whose body begins with the brace `block`."""
    opening = tokens.partner.get(block - 1, 0)
    if opening >= 2 and tokens.texts[opening - 2] == "def":
        return tokens.texts[opening - 1]
    return None


def _unknown(s: Surprise) -> Mistake:
    """A word that begins nothing here: a habit, a word of another room, or a slip."""
    word = s.text
    facts = {"read": s.clipped, "thing": s.thing}
    usual = {"statements": habits.STATEMENTS, "main": habits.ITEMS, "program": habits.ITEMS}.get(s.room, {})
    if word in usual:
        return Mistake("SQ0120", s.at(), facts, usual[word])
    near = closest(word, s.here)
    mean = f"did you mean `{near}`?" if near else ""
    rooms = s.rooms().get(word, ())
    places = [place for room, place in PLACES.items() if room in rooms and room != s.room]
    if places:
        help = f"it belongs in {' or '.join(places)}"
        notes: tuple[Note, ...] = ()
        if s.tokens.strays and s.tokens.kinds[s.index - 1] == "}":
            help = "there is one `}` too many before it"
            notes = (Note("this `}` ends a block; is it one too many?", s.at(s.index - 1)),)
        elif mean:
            help = f"{help}; {mean}"
        return Mistake("SQ0121", s.at(), {"read": word, "room": _inside(s)}, help, notes)
    return Mistake("SQ0120", s.at(), facts, mean or f"begin with {either(s.here)}")


def foreign(s: Surprise) -> Mistake | None:
    """What was read as the use of a definition, until it went on: `if (x) { … }`, `cache (c) }`."""
    if s.room != "statements" or s.head in s.here or s.before != ")":
        return None
    first = evolve(s, index=s.first)
    if s.head in _CLAUSES:
        return Mistake("SQ0146", first.at(), {"read": s.head})
    return _unknown(first) if s.kind == "{" else None


def _inside(s: Surprise) -> str:
    """The room as a person would name it, by the word before its brace."""
    if s.block is None:
        return "the outermost level"
    t = s.tokens
    word = s.block - 1
    while word > 0 and t.kinds[word] in (")", "]"):
        word = t.partner.get(word, word) - 1
    if s.room == "statements":
        owner = t.texts[word]
        return f"the block of `{owner}`" if t.kinds[word] == WORD else "a block of statements"
    return PLACES.get(s.room, f"a {s.room}")
