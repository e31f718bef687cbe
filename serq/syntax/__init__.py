"""Text -> tree.

In: a `SourceFile`. Out: `Parsed`, a `tree.Program` with what is known of dropped text; complaints
go to the sink. Imports: `serq.source`, `serq.diagnostics`, `serq.spelling`; Lark, to make tables.
Grows: a new form is a rule in `grammar/serq.lark`, a class in `tree.py` and a row in `build.py`; a
better message is a rule in `mistakes.py` or `beginnings.py`.

    tokens.py      characters -> tokens
    tables.py      the grammar -> parse tables, by Lark
    walk.py        tokens -> nodes, along the tables; what happens after a mistake
    build.py       which node a rule of the grammar makes
    mistakes.py    what is said of a token that cannot stand where it stands
    parse.py       the front: `parse_program`, `parse_expression`, `parse_library`
"""
