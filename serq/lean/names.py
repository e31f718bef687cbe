"""Names and quotations that Lean reads as they are meant."""

from __future__ import annotations

import re
import textwrap

WIDTH = 100
"""Columns of a line."""

# Words that start a command, a term or a tactic somewhere in Lean. A word too many here does no
# harm: «word» is the same name as word.
_KEYWORDS = """
    abbrev admit all alias alternative and any as assert at attribute axiom begin break builtin_initialize
    by calc case catch class coinductive conv constant continue dbg_trace declare_syntax_cat decreasing_by
    def default deriving do elab elab_rules else end enum ensure erw example exact exists export extends
    extern false finally for forall from fun generalize hiding have haveI if import in include inductive
    infix infixl infixr init_quot initialize inline instance intro is let letI letrec local macro
    macro_rules match meta mod module motive mut mutual namespace nat_lit native noncomputable nomatch
    nofun nonrec not notation obtain of omit opaque open or partial postfix prefix prelude private
    protected public raw refine register_builtin_option renaming repeat rec return rw scoped section
    seal set_option show simp sorry static structure suffices syntax tactic termination_by then theorem
    throw trace true try universe universes unless unif_hint unsafe unseal until using val variable
    variables where while with xor Prop Sort Type
    """
KEYWORDS = frozenset(_KEYWORDS.split())

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def lean_name(name: str) -> str:
    """`name` as one component of a Lean name, in «» unless it is a plain word."""
    if _PLAIN.fullmatch(name) and name.strip("_") and name not in KEYWORDS:
        return name
    return "«" + re.sub(r"[«»\x00-\x1f\x7f]", "_", name) + "»"


def identifiers(text: str) -> frozenset[str]:
    """The components of the plain names in Lean text, comments included."""
    return frozenset(re.findall(r"[^\W\d]\w*", text))


def doc_comment(text: str, opening: str = "/--") -> str:
    """A comment that holds `text`, in lines of at most `WIDTH` columns where words allow it."""
    # The two signs that would end the comment or open one inside it.
    safe = text.replace("-/", "- /").replace("/-", "/ -")
    paragraphs = safe.split("\n")
    paragraphs[0] = f"{opening} {paragraphs[0]}"
    paragraphs[-1] += " -/"
    return "\n".join(
        textwrap.fill(p, WIDTH, break_long_words=False, break_on_hyphens=False) for p in paragraphs
    )


def fill_term(head: str, term: str, indent: int) -> str:
    """`head` and then a term, which goes on indented by `indent` where a line is full."""
    return textwrap.fill(
        f"{head} {term}", WIDTH, subsequent_indent=" " * indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
