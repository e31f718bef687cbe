"""The grammar file -> parse tables, made by Lark once and kept.

In: `grammar/serq.lark` (beside this file in an installed package). Out: `Tables`, plain data that
`walk.py` follows. Lark takes a few tenths of a second to analyse the grammar; the answer depends
on nothing else, so it is kept in a file with the grammar it belongs to, and read back in a few
milliseconds without importing Lark. A wheel carries that file: an installation that nobody may write to
starts as fast as any.
"""

from __future__ import annotations

import marshal
import os
from typing import Any

from attrs import field, frozen

_HERE = os.path.dirname(os.path.abspath(__file__))

_LAYOUT = 2
"""Of the kept file; to be raised when what is kept of Lark's answer changes."""

STARTS = ("program", "library", "expr")
"""The rules that a text can be read as."""


@frozen
class Rule:
    """One expansion of the grammar.

    origin: the rule's name; size: how many symbols it takes from the stack.
    builder: the name of the builder that makes its node; "" hands its only value on, "[]" makes a
    list that is spliced into the rule that uses it.
    keep: which of the symbols count, by position, -1 for an optional part that is absent.
    splice: the positions among them that are lists.
    """

    origin: str
    size: int
    builder: str
    keep: tuple[int, ...]
    splice: frozenset[int]
    passes: bool = field(init=False)

    @passes.default
    def _passes(self) -> bool:
        return self.size == 1 and not self.builder

    def arrange(self, taken: list[Any]) -> list[Any]:
        """The values that count, of the values of all symbols. A list that grows is not copied."""
        if not self.splice:
            return [taken[place] if place >= 0 else None for place in self.keep]
        if self.builder == "[]" and self.keep[0] in self.splice:
            # Copying here would make a block of n statements take n squared steps.
            values: list[Any] = taken[self.keep[0]]
            rest = self.keep[1:]
        else:
            values, rest = [], self.keep
        for place in rest:
            if place in self.splice:
                values += taken[place]
            else:
                values.append(taken[place] if place >= 0 else None)
        return values


@frozen
class Tables:
    """What the walk follows.

    Terminals go by their text (`set`, `<=`), or by NAME, NUMBER, STRING, $END, _EXPRESSION_OPENS.
    actions: for each state, by terminal, the state after shifting it (>= 0), or minus one minus
    the number of the rule to reduce by.
    gotos: for each state, by rule name, the state after reducing to it.
    starts, ends: for each of `STARTS`, its first state and the state that has read it.
    words: the words of the language.
    """

    actions: list[dict[str, int]]
    gotos: list[dict[str, int]]
    rules: list[Rule]
    starts: dict[str, int]
    ends: dict[str, int]
    words: frozenset[str]
    _passed: dict[tuple[int, int, str], int] = field(factory=dict, init=False, repr=False, eq=False)

    def pass_on(self, below: int, state: int, kind: str) -> int:
        """The state after all rules that only hand a value on: a `term` is a `sum` is a `comparison` …

        below: the state under the value on the stack; state: the one above it, whose action on a
        token of this kind is such a rule. Remembered, since an expression goes this way at each
        of its parts.
        """
        key = (below, state, kind)
        if (found := self._passed.get(key)) is not None:
            return found
        action = self.actions[state].get(kind)
        while action is not None and action < 0 and (rule := self.rules[-1 - action]).passes:
            state = self.gotos[below][rule.origin]
            action = self.actions[state].get(kind)
        self._passed[key] = state
        return state


def load_tables() -> Tables:
    """The tables of the grammar: kept ones if they are of this grammar, otherwise made and kept."""
    grammar = read_grammar()
    places = _places()
    for place in (SHIPPED, *places):
        if (tables := _read(place, grammar)) is not None:
            return tables
    tables = make_tables(grammar)
    for place in places:
        if write_tables(place, grammar, tables):
            break
    return tables


def read_grammar() -> str:
    """The text of the grammar, from the installed package or from the checkout around it."""
    packed = os.path.join(_HERE, "serq.lark")
    checkout = os.path.join(_HERE, "..", "..", "grammar", "serq.lark")
    with open(packed if os.path.exists(packed) else checkout, encoding="utf-8") as file:
        return file.read()


# ---------------------------------------------------------------- Lark's analysis


def make_tables(grammar: str) -> Tables:
    """Let Lark analyse the grammar, and keep of its answer what the walk needs."""
    from lark import Lark
    from lark.grammar import Rule as LarkRule
    from lark.lexer import TerminalDef

    made = Lark(grammar, parser="lalr", lexer="basic", start=list(STARTS), maybe_placeholders=True)
    data, memo = made.memo_serialize([TerminalDef, LarkRule])
    table: dict[str, Any] = data["parser"]["parser"]
    spelling = {t.name: t.pattern.value for t in made.terminals if t.pattern.type == "str"}
    numbers = {state: number for number, state in enumerate(table["states"])}
    rules: list[Rule] = []
    rule_numbers: dict[int, int] = {}
    actions: list[dict[str, int]] = []
    gotos: list[dict[str, int]] = []
    for row in table["states"].values():
        action: dict[str, int] = {}
        goto: dict[str, int] = {}
        for token, (reduces, argument) in row.items():
            name = table["tokens"][token]
            if reduces:
                key = argument["@"]
                if key not in rule_numbers:
                    rule_numbers[key] = len(rules)
                    rules.append(_rule(memo[key]))
                action[spelling.get(name, name)] = -1 - rule_numbers[key]
            elif name.strip("$").isupper():
                action[spelling.get(name, name)] = numbers[argument]
            else:
                goto[name] = numbers[argument]
        actions.append(action)
        gotos.append(goto)
    return Tables(
        actions,
        gotos,
        rules,
        {name: numbers[state] for name, state in table["start_states"].items()},
        {name: numbers[state] for name, state in table["end_states"].items()},
        frozenset(text for text in spelling.values() if text.isalpha()),
    )


def _rule(rule: dict[str, Any]) -> Rule:
    """Lark's record of an expansion, with its conventions (`?rule`, `_rule`, `[x]`) worked out."""
    options, symbols = rule["options"], rule["expansion"]
    # Lark tells absent optional parts by a row of flags: true for such a part, false for a symbol.
    flags = options["empty_indices"] or [False] * len(symbols)
    keep: list[int] = []
    place = 0
    for absent in flags:
        if absent:
            keep.append(-1)
            continue
        if not symbols[place].get("filter_out"):
            keep.append(place)
        place += 1
    splice = frozenset(place for place in keep if place >= 0 and symbols[place]["name"].startswith("_"))
    origin = rule["origin"]["name"]
    if origin.startswith("_"):
        builder = "[]"
    elif options["expand1"] and not rule["alias"] and len(keep) == 1 and not splice:
        builder = ""
    else:
        builder = rule["alias"] or origin
    return Rule(origin, len(symbols), builder, tuple(keep), splice)


# ---------------------------------------------------------------- kept tables


SHIPPED = os.path.join(_HERE, "serq.tables")
"""Where an installed package has them."""


def _places() -> list[str]:
    """Where tables are kept: with the compiled modules, or with a person's cached files."""
    places = [os.path.join(_HERE, "__pycache__", "serq.tables")]
    cached = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.path.isabs(cached):
        places.append(os.path.join(cached, "serq", "serq.tables"))
    return places


def _read(place: str, grammar: str) -> Tables | None:
    """The tables kept at `place`; None when there are none, or not of this grammar."""
    try:
        with open(place, "rb") as file:
            layout, kept_grammar, actions, gotos, rules, starts, ends, words = marshal.load(file)
        if layout != _LAYOUT or kept_grammar != grammar:
            return None
        return Tables(actions, gotos, [Rule(*rule) for rule in rules], starts, ends, words)
    except (OSError, ValueError, TypeError, EOFError):
        return None


def write_tables(place: str, grammar: str, tables: Tables) -> bool:
    """Keep tables at `place`, in one step, so that nobody reads half of them; False if that fails."""
    rules = [(r.origin, r.size, r.builder, r.keep, r.splice) for r in tables.rules]
    kept = (_LAYOUT, grammar, tables.actions, tables.gotos, rules, tables.starts, tables.ends, tables.words)
    draft = f"{place}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(draft, "wb") as file:
            marshal.dump(kept, file, 4)  # every Python from 3.11 on reads this form
        os.replace(draft, place)
    except OSError:
        return False
    return True
