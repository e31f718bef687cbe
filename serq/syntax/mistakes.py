"""The parser's surprise -> what a person is told.

A surprise is a token that cannot stand where it stands. The rules below look at it in turn, the
special ones first; the first that knows what happened answers. Each names the thing in the terms
of the language, never in those of the grammar's bookkeeping.
"""

from __future__ import annotations

from collections.abc import Callable

from serq.diagnostics import Note
from serq.source import Span
from serq.spelling import closest
from serq.syntax import habits
from serq.syntax.beginnings import beginning, foreign, unclosed
from serq.syntax.surprise import CLOSING, Mistake, Surprise, either
from serq.syntax.tokens import BAD, END, NUMBER, STRING, WORD

_PARENTHESES = {
    "branch": "test", "with": "probability", "while": "test", "only": "test", "given": "test",
    "when": "test", "end": "test", "execute": "time", "most": "cap", "by": "keys", "poisson": "rate",
    "renewal": "gap", "closed": "number of sessions", "batch": "number of sessions", "ps": "capacity",
    "slotted": "slot and number of sessions", "gamma": "rate and variation", "stages": "rates and durations",
    "reuse": "cost", "cache": "cost", "reserve": "cost", "where": "test",
}  # fmt: skip
"""By word: what stands in the parentheses that follow it."""

_AMOUNTS = {
    "run": "work", "hold": "units", "grow": "units", "load": "tokens", "lease": "time", "claim": "condition",
    "spill": "work", "transfer": "load",
}  # fmt: skip
"""By the first word of a statement: what stands in parentheses after the place it names."""

_ARRIVE = {
    "at": "name a list of times: `let times = [0, 1, 2];` before `main`, and `arrive at(times);`",
    "stages": "each stage is a rate and a duration in parentheses: `arrive stages((0.2, 600), (0, 100));`",
}
"""By kind of arrivals: how their parentheses are filled."""

MOST_EXPECTED = 9
"""Words that a message may offer in the place of one that does not belong there."""

_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_GO_ON = frozenset({"+", "-", "*", "/", "^", "(", "."})
_CLAUSES = frozenset({"reserve", "reuse", "at", "cache", "lease"})


def explain(s: Surprise) -> Mistake:
    """The words for a surprise."""
    for rule in _RULES:
        if (mistake := rule(s)) is not None:
            return mistake
    return _anything(s)


# ---------------------------------------------------------------- characters


def _bad_token(s: Surprise) -> Mistake | None:
    """What is no token of the language at all."""
    if s.kind != BAD:
        return None
    trouble = s.tokens.troubles[s.index]
    at = s.at()
    if trouble == "OPEN":
        return Mistake("SQ0102", at)
    if trouble == "UNCLOSED":
        return Mistake("SQ0103", Span(at.line, at.end_column, at.line, at.end_column, at.file))
    if trouble == "POINTS":
        return Mistake("SQ0104", at, {"read": s.clipped})
    character = s.text[0]
    if character.isprintable() and not character.isspace():
        read = f"`{character}`"
    else:
        read = f"the character U+{ord(character):04X}"
    cure = habits.CHARACTERS.get(character, "")
    return Mistake("SQ0101", at, {"read": read}, cure or "remove it")


# ---------------------------------------------------------------- inside particular statements


def _main(s: Surprise) -> Mistake | None:
    if s.room != "program" or s.head != "fn" or s.before != "(":
        return None
    name = s.index - 2
    if s.tokens.texts[name] != "main":
        return Mistake("SQ0164", s.at(name), {"read": s.tokens.texts[name]})
    return Mistake("SQ0132", s.at())


def _definition(s: Surprise) -> Mistake | None:
    if s.head != "def" or not (s.can("{") or (s.index == s.first + 2 and s.kind == "{")):
        return None
    if s.opener is not None:
        return None
    t = s.tokens
    shown = "".join(t.texts[s.first + 1 : s.index]).replace(",", ", ")
    return Mistake("SQ0133", s.at(), {"name": shown if s.before == ")" else f"{shown}()"})


def _stage_kind(s: Surprise) -> Mistake | None:
    if not (s.can("fifo") and s.can("delay") and s.can("ps")):
        return None
    if s.text == "step":
        return Mistake("SQ0129", s.at(), {"name": s.tokens.texts[s.first + 1]})
    near = closest(s.text, ("fifo", "ps", "delay"))
    return Mistake("SQ0128", s.at(), {"read": s.shown()}, f"did you mean `{near}`?" if near else None)


def _claim(s: Surprise) -> Mistake | None:
    if s.head != "claim" or not (s.can("every") and s.can("some")):
        return None
    return Mistake("SQ0127", s.at(), {"read": s.shown(), "name": s.tokens.texts[s.first + 1]})


def _hold_clause(s: Surprise) -> Mistake | None:
    if s.head == "hold" and s.text in _CLAUSES and s.opener is None:
        return Mistake("SQ0124", s.at(), {"read": s.text})
    return None


def _transfer(s: Surprise) -> Mistake | None:
    if s.head == "transfer" and s.kind == ";" and s.can("from"):
        return Mistake("SQ0134", s.at(s.first))
    return None


def _draw(s: Surprise) -> Mistake | None:
    return Mistake("SQ0130", s.at()) if s.before == "~" else None


def _after_else(s: Surprise) -> Mistake | None:
    if s.before != "else" or not s.can("{"):
        return None
    example = "branch (…) { … }" if s.text in ("if", "branch") else "…"
    return Mistake("SQ0117", s.at(), {"read": s.shown(), "example": example})


def _parentheses(s: Surprise) -> Mistake | None:
    """A test, an amount or keys without the parentheses around them."""
    if not s.can("(") or s.can(NUMBER) or s.after_value:
        return None
    word = s.before
    if word in _PARENTHESES:
        what = _PARENTHESES[word]
        shown = word = {"most": "each at most", "end": "at end"}.get(word, word)
    elif s.head in _AMOUNTS:
        word, what = s.head, _AMOUNTS[s.head]
        shown = s.quote(s.first, s.index)
    else:
        return None
    rest = s.rest()
    return Mistake("SQ0116", s.at(), {"word": word, "what": what}, f"write `{shown} ({rest or '…'})`")


def _passes(s: Surprise) -> Mistake | None:
    """A number of passes, after `in`, that is more than one word and not in parentheses."""
    begin = s.index if s.before == "in" else s.index - 1
    if begin <= s.first or s.tokens.texts[begin - 1] != "in" or s.kind not in _GO_ON:
        return None
    if s.tokens.texts[begin] in ("running", "waiting", "batch"):
        return None
    stop = "{" if s.head == "for" and (begin == s.index or s.can("{")) else "("
    kinds = s.tokens.kinds[begin : begin + 12]
    shown = s.quote(begin, begin + kinds.index(stop)) if stop in kinds else "…"
    return Mistake("SQ0116", s.at(), {"word": "in", "what": "number of passes"}, f"write `in ({shown})`")


def _block(s: Surprise) -> Mistake | None:
    """A block whose braces are missing, or only its `{` when some `}` closes nothing."""
    if not s.can("{") or s.can("(") or s.can(NUMBER) or s.kind in (";", END):
        return None
    word = "main" if s.head == "fn" else s.head or s.before
    insert = "{" if s.tokens.strays else None
    return Mistake("SQ0118", s.at(), {"read": s.shown(), "word": word}, insert=insert)


# ---------------------------------------------------------------- expressions


def _value_missing(s: Surprise) -> Mistake | None:
    """An expression must begin here, or go on, and does not."""
    if not s.can(NUMBER):
        return None
    pair = s.before + s.text if s.touches else ""
    instead = {
        "**": "^", "<>": "!=", "=<": "<=", "=>": ">=", "++": "set x = x + 1;", "+=": "set x = x + …;",
        "-=": "set x = x - …;", "*=": "set x = x * …;", "/=": "set x = x / …;", "===": "==",
    }.get(pair)  # fmt: skip
    if instead:
        return Mistake("SQ0140", s.at(), {"read": pair, "instead": instead})
    if s.kind == "+":
        return Mistake("SQ0115", s.at())
    if s.kind == "==" or (s.kind == "=" and s.before == "="):
        return Mistake("SQ0139", s.at())
    return Mistake("SQ0136", s.at(), {"read": s.shown()}, _value_help(s))


def _value_help(s: Surprise) -> str:
    if s.kind == STRING:
        return "strings stand only after `use`, in `args.number` and after `trace`"
    if s.before and s.before in "+-*/^<>=!&|?:":
        return f"finish what `{s.before}` begins, or leave it out"
    return "write a number, a name, a call or an expression of these"


def _after_value(s: Surprise) -> Mistake | None:
    """An expression is complete and something follows that does not go on with it."""
    if not s.after_value:
        return None
    previous = s.index - 1
    if s.kind in _COMPARISONS and s.can("&&"):
        before = reversed(s.tokens.kinds[s.first : s.index])
        first = next((kind for kind in before if kind in _COMPARISONS), "<")
        return Mistake("SQ0113", s.at(), {"read": s.text, "operator": first})
    if s.kind == "=":
        return Mistake("SQ0138", s.at())
    if s.kind == WORD and s.text in habits.OPERATORS:
        return Mistake("SQ0140", s.at(), {"read": s.text, "instead": habits.OPERATORS[s.text]})
    if s.kind in (WORD, NUMBER) and s.touches and s.tokens.kinds[previous] == NUMBER:
        return Mistake("SQ0105", s.at(), {"number": s.before[:40], "read": s.clipped})
    opener = s.opener
    if semicolon := _semicolon(s):
        return semicolon
    if s.kind in (WORD, NUMBER, STRING, "(", "~", "!", "{"):
        if opener is not None:
            help = "put an operator or a `,` between them"
        elif s.room == "expression":
            help = "put an operator between them"
        else:
            help = f"put an operator between them, or end the {s.thing} with `;`"
        return Mistake("SQ0141", s.at(), help=help)
    return None


def _conditional(s: Surprise) -> Mistake | None:
    """A `?` whose `:` does not come."""
    if not s.can(":"):
        return None
    opener = s.opener
    pending = 0
    for kind in s.tokens.kinds[s.first if opener is None else opener + 1 : s.index]:
        if kind == "?":
            pending += 1
        elif kind == ":" and pending:
            pending -= 1
    return Mistake("SQ0114", s.at()) if pending else None


def _bracket(s: Surprise) -> Mistake | None:
    """The statement ends, or its block begins, inside `(` or `[`."""
    opener = s.opener
    if opener is None or (closing := CLOSING[s.tokens.texts[opener]]) == "}" or not s.can(closing):
        return None
    if s.kind not in (";", "{", "}", ")", "]", END) and not (s.starts_line and s.text in s.here):
        return None
    help = f"close what the note shows with `{closing}`"
    note = Note("it is opened here", s.at(opener))
    return Mistake("SQ0111", s.at(), {"closing": closing, "read": s.shown()}, help, (note,), insert=closing)


def _semicolon(s: Surprise) -> Mistake | None:
    """The statement is complete but for its `;`."""
    if not s.can(";"):
        return None
    begins = s.kind == WORD and (s.text in s.here or s.text in s.outside)
    if s.kind in ("}", END) or s.starts_line or (begins and s.tokens.goes_on_as_statement(s.index)):
        return Mistake("SQ0110", s.at(), {"read": s.shown(), "thing": s.thing}, insert=";")
    return None


# ---------------------------------------------------------------- anything else


def _name_missing(s: Surprise) -> Mistake | None:
    if not s.can("NAME") or s.kind == WORD:
        return None
    after = f" after `{s.before}`" if s.before.isalpha() else ""
    return Mistake("SQ0135", s.at(), {"read": s.shown()}, f"write a name{after}: letters, digits and `_`")


def _string_missing(s: Surprise) -> Mistake | None:
    if not s.can(STRING):
        return None
    example = {"use": '`use "std/args";`', "trace": '`trace "requests.csv";`'}.get(s.head, '`"name"`')
    return Mistake("SQ0137", s.at(), {"read": s.shown()}, f"write it in double quotes, as in {example}")


def _equals_missing(s: Surprise) -> Mistake | None:
    if s.kind == "==" and s.can("="):
        return Mistake("SQ0139", s.at())
    return None


def _anything(s: Surprise) -> Mistake:
    """Nothing is known but what could stand here instead."""
    expected = s.expected()
    if s.kind in (")", "]") and s.index not in s.tokens.partner and s.room != "expression":
        return Mistake("SQ0123", s.at(), {"read": s.text})
    if s.room == "expression" and END in expected:
        return Mistake("SQ0145", s.at(), {"read": s.shown()})
    near = closest(s.text, [word for word in expected if word.isalpha()]) if s.kind == WORD else None
    mean = f"did you mean `{near}`?" if near else None
    if s.head == "arrive" and s.opener is not None:
        mean = _ARRIVE.get(s.tokens.texts[s.first + 1])
    if 0 < len(expected) <= MOST_EXPECTED:
        return Mistake("SQ0147", s.at(), {"read": s.shown(), "expected": either(expected)}, mean)
    return Mistake("SQ0144", s.at(), {"read": s.shown()}, mean)


_RULES: tuple[Callable[[Surprise], Mistake | None], ...] = (
    _bad_token,
    unclosed,
    beginning,
    foreign,
    _main,
    _definition,
    _stage_kind,
    _claim,
    _hold_clause,
    _transfer,
    _draw,
    _after_else,
    _equals_missing,
    _passes,
    _value_missing,
    _conditional,
    _bracket,
    _after_value,
    _semicolon,
    _parentheses,
    _block,
    _name_missing,
    _string_missing,
)
