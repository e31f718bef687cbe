"""Text -> the same program in its one layout, comments kept.

In: a `SourceFile`. Out: its text laid out, None when it is no program; complaints go to the sink.
Imports: `serq.source`, `serq.diagnostics`, the rest of `serq.syntax`.
Grows: a new form is laid out by the rules for tokens and needs nothing, unless lines should break
before one of its words (`CLAUSES`) or its parenthesis stands close to its name (`CLOSE`), both in
`arrange.py`.

The tokens are printed as they were written, in their order; the tree only says where lines may break
and which parentheses mean nothing.

    draft.py        the tokens that are printed, and which of them belong to which node
    parentheses.py  the parentheses that are left out
    comments.py     where each comment goes
    arrange.py      blanks, places where a line may break, and what is kept on one line if it fits
    paper.py        lines being written: indentation, comments at their ends, in columns
    printing.py     all of this -> text
    whole.py        the front: `lay_out`
"""
