"""Writes the colours of `.sq` programs for editors, with the words of the grammar.

    python editors/make.py          writes the files of `editors/vim` and `editors/vscode`

Copy or link `vim` into `~/.vim/pack/serq/start/`, `vscode` into `~/.vscode/extensions/`; other editors
that read TextMate grammars take `vscode/syntaxes/serq.tmLanguage.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from serq.check.words import CALLABLE

HERE = Path(__file__).parent
GRAMMAR = HERE.parent / "grammar" / "serq.lark"
NUMBER = r"(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?"
OPERATOR = r"&&|\|\||[<>=!]=|[-+*/^<>!?:=]"
OPENING = r"\{\s*$"


def words() -> list[str]:
    """The words of the language; none is reserved, so they are coloured wherever they stand."""
    return sorted(set(re.findall(r'"([A-Za-z]+)"', GRAMMAR.read_text(encoding="utf-8"))))


def functions() -> list[str]:
    """What can be called in an expression and is no word of the grammar."""
    return sorted(set(CALLABLE) - set(words()))


def textmate() -> str:
    """A TextMate grammar."""
    patterns = [
        ("comment.line.double-slash.serq", r"//.*$"),
        ("string.quoted.double.serq", r'"[^"\n]*"'),
        ("support.type.law.serq", r"~\s*\w+"),
        ("variable.other.member.serq", r"(?<=\w\.)[A-Za-z_]\w*"),
        ("keyword.control.serq", rf"\b(?:{'|'.join(words())})\b"),
        ("support.function.serq", rf"\b(?:{'|'.join(functions())})\b(?=\s*\()"),
        ("constant.numeric.serq", rf"(?<!\w){NUMBER}"),
        ("keyword.operator.serq", OPERATOR),
    ]
    block = {"name": "comment.block.serq", "begin": r"/\*", "end": r"\*/"}
    data = {
        "name": "serq",
        "scopeName": "source.serq",
        "fileTypes": ["sq"],
        "patterns": [block, *({"name": name, "match": match} for name, match in patterns)],
    }
    return _json(data)


def extension() -> str:
    """What makes a VS Code extension of a folder."""
    language = {
        "id": "serq", "aliases": ["serq"], "extensions": [".sq"],
        "configuration": "./language-configuration.json",
    }  # fmt: skip
    grammar = {"language": "serq", "scopeName": "source.serq", "path": "./syntaxes/serq.tmLanguage.json"}
    return _json(
        {
            "name": "serq",
            "displayName": "serq",
            "description": "Colours for serq programs",
            "version": "0.1.0",
            "publisher": "serq",
            "engines": {"vscode": "^1.60.0"},
            "contributes": {"languages": [language], "grammars": [grammar]},
        }
    )


def configuration() -> str:
    """Comments, brackets and indentation for VS Code."""
    pairs = [["{", "}"], ["[", "]"], ["(", ")"]]
    return _json(
        {
            "comments": {"lineComment": "//", "blockComment": ["/*", "*/"]},
            "brackets": pairs,
            "autoClosingPairs": [*pairs, ['"', '"']],
            "indentationRules": {"increaseIndentPattern": OPENING, "decreaseIndentPattern": r"^\s*\}"},
        }
    )


def vim() -> str:
    """A Vim syntax file."""
    lines = [
        '" Colours for serq programs. Written by editors/make.py.',
        'if exists("b:current_syntax")',
        "  finish",
        "endif",
        *_keywords("serqWord", words()),
        *_keywords("serqFunction", functions()),
        r"syntax match serqNumber /\<\d[0-9_]*\(\.[0-9_]*\)\?\([eE][+-]\?\d\+\)\?/",
        r"syntax match serqLaw /\~\s*\w\+/",
        r"syntax match serqMember /\w\@1<=\.\h\w*/",
        'syntax region serqString start=/"/ end=/"/ oneline',
        r"syntax match serqComment /\/\/.*$/",
        r"syntax region serqComment start=/\/\*/ end=/\*\//",
        "highlight default link serqWord Keyword",
        "highlight default link serqFunction Function",
        "highlight default link serqNumber Number",
        "highlight default link serqLaw Type",
        "highlight default link serqMember Identifier",
        "highlight default link serqString String",
        "highlight default link serqComment Comment",
        'let b:current_syntax = "serq"',
    ]
    return "\n".join(lines) + "\n"


def files() -> dict[str, str]:
    """All files, by their path in this folder."""
    return {
        "vim/syntax/serq.vim": vim(),
        "vim/ftdetect/serq.vim": "autocmd BufRead,BufNewFile *.sq setfiletype serq\n",
        "vscode/package.json": extension(),
        "vscode/language-configuration.json": configuration(),
        "vscode/syntaxes/serq.tmLanguage.json": textmate(),
    }


def _keywords(group: str, names: Iterable[str]) -> list[str]:
    return [f"syntax keyword {group} {name}" for name in names]


def _json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name, text in files().items():
        (HERE / name).parent.mkdir(parents=True, exist_ok=True)
        (HERE / name).write_text(text, encoding="utf-8")
