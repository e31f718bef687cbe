"""Colours for programs in the pages: a lexer for Pygments, with the words of the grammar."""

from __future__ import annotations

import re
from pathlib import Path

from pygments import lexers
from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

GRAMMAR = Path(__file__).parents[2] / "grammar" / "serq.lark"
WORDS = sorted(set(re.findall(r'"([A-Za-z]+)"', GRAMMAR.read_text(encoding="utf-8"))))


class SerqLexer(RegexLexer):
    """Words of the language are coloured wherever they stand; only a parser could do better."""

    name = "serq"
    aliases = ("serq",)
    filenames = ("*.sq",)
    tokens = {  # noqa: RUF012
        "root": [
            (r"\s+", Text),
            (r"//.*?$", Comment.Single),
            (r"/\*[\s\S]*?\*/", Comment.Multiline),
            (r'"[^"\n]*"', String),
            (r"~\w+", Name.Builtin),
            (words(WORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"\d[\d_]*\.?[\d_]*(?:[eE][+-]?\d+)?|\.\d+", Number),
            (r"[^\W\d]\w*(?=\s*\()", Name.Function),
            (r"[^\W\d]\w*", Name),
            (r"&&|\|\||[<>=!]=|[-+*/^<>!?:=~]", Operator),
            (r"[{}()\[\];,.]", Punctuation),
        ]
    }


def on_startup(command: str, dirty: bool) -> None:
    """Called by MkDocs once: makes ```` ```serq ```` known."""
    lexers.LEXERS["SerqLexer"] = (__name__, SerqLexer.name, SerqLexer.aliases, SerqLexer.filenames, ())
    lexers._lexer_cache[SerqLexer.name] = SerqLexer
