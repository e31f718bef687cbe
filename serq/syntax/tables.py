"""The grammar file -> parse tables, made by Lark once and kept in a file.

In: `grammar/serq.lark` (beside this file in an installed package). Out: `Tables`, plain lists and
dictionaries that the parser in `parse.py` walks. Making them takes Lark a few tenths of a second,
reading them back a few milliseconds, without Lark.
"""

from __future__ import annotations

from typing import Any
from pathlib import Path

from attrs import frozen

_HERE = Path(__file__).parent


@frozen
class Rule:
    """One expansion of the grammar.

    origin: the rule's name; size: symbols it takes from the stack.
    builder: the name of the builder that makes its node; "" passes the only value on, "[]" makes a
    list that is spliced into the rule that uses it.
    keep: which of the taken symbols carry a value: their place, or -1 for an optional part that is
    absent; splice: those among them that are lists.
    """

    origin: str
    size: int
    builder: str
    keep: tuple[int, ...]
    splice: frozenset[int]


@frozen
class Tables:
    """What the parser walks.

    Terminals go by their text (`set`, `<=`), or by NAME, NUMBER, STRING, $END.

    actions: for each state, by terminal, the state to go to after shifting it (>= 0), or minus one
    minus the number of the rule to reduce by.
    gotos: for each state, by rule name, the state after reducing to it.
    starts, ends: by name of a start rule, its first state and the state that has read it.
    words: the words of the language.
    """

    actions: list[dict[str, int]]
    gotos: list[dict[str, int]]
    rules: list[Rule]
    starts: dict[str, int]
    ends: dict[str, int]
    words: frozenset[str]


STARTS = ("program", "library", "expr")


def read_grammar() -> str:
    """The text of the grammar, from the package or from the checkout around it."""
    packed = _HERE / "serq.lark"
    if packed.exists():
        return packed.read_text(encoding="utf-8")
    return (_HERE.parent.parent / "grammar" / "serq.lark").read_text(encoding="utf-8")


def make_tables(grammar: str) -> Tables:
    """Let Lark analyse the grammar, and keep what the parser needs of its answer."""
    from lark import Lark
    from lark.grammar import Rule as LarkRule
    from lark.lexer import TerminalDef

    made = Lark(grammar, parser="lalr", lexer="basic", start=list(STARTS), maybe_placeholders=True)
    data: dict[str, Any]
    data, memo = made.memo_serialize([TerminalDef, LarkRule])
    parser = data["parser"]["parser"]
    numbers: dict[int, int] = {}
    rules: list[Rule] = []
    spelling = {t.name: t.pattern.value for t in made.terminals if t.pattern.type == "str"}
    names: dict[int, str] = parser["tokens"]
    states = {state: place for place, state in enumerate(parser["states"])}
    actions: list[dict[str, int]] = []
    gotos: list[dict[str, int]] = []
    for row in parser["states"].values():
        action: dict[str, int] = {}
        goto: dict[str, int] = {}
        for token, (reduces, argument) in row.items():
            name = spelling.get(names[token], names[token])
            if reduces:
                key = argument["@"]
                if key not in numbers:
                    numbers[key] = len(rules)
                    rules.append(_rule(memo[key]))
                action[name] = -1 - numbers[key]
            elif names[token].strip("$").isupper():
                action[name] = states[argument]
            else:
                goto[name] = states[argument]
        actions.append(action)
        gotos.append(goto)
    words = frozenset(text for text in spelling.values() if text.isalpha())
    return Tables(
        actions,
        gotos,
        rules,
        {name: states[state] for name, state in parser["start_states"].items()},
        {name: states[state] for name, state in parser["end_states"].items()},
        words,
    )


def _rule(rule: dict[str, Any]) -> Rule:
    """Lark's record of an expansion, with its conventions (`?rule`, `_rule`, `[x]`) worked out."""
    options = rule["options"]
    symbols = rule["expansion"]
    kept = [(place, s["name"]) for place, s in enumerate(symbols) if not s.get("filter_out")]
    # Lark tells the absent optional parts as a row of flags: each 1 an absent one, each 0 a symbol.
    keep: list[int] = []
    place = 0
    for absent in options["empty_indices"] or [False] * len(symbols):
        if absent:
            keep.append(-1)
        else:
            if not symbols[place].get("filter_out"):
                keep.append(place)
            place += 1
    splice = frozenset(place for place, name in kept if name.startswith("_"))
    origin = rule["origin"]["name"]
    if origin.startswith("_"):
        builder = "[]"
    elif options["expand1"] and not rule["alias"] and len(keep) == 1 and not splice:
        builder = ""
    else:
        builder = rule["alias"] or origin
    return Rule(origin, len(symbols), builder, tuple(keep), splice)


def load_tables() -> Tables:
    return make_tables(read_grammar())
