"""Text -> tree.

In: a `SourceFile`. Out: `Parsed`, a `tree.Program` with what is known of dropped text; complaints
go to the sink. Imports: `serq.source`, `serq.diagnostics`, `serq.spelling`; Lark, to make tables.
Grows: a new form is a rule in `grammar/serq.lark`, a class in `tree.py` and a row in `build.py`; a
better message is a rule in `mistakes.py` or `beginnings.py`.

    tokens.py      characters -> tokens
    tables.py      the grammar -> parse tables, by Lark, kept in a file
    walk.py        tokens -> nodes, along the tables; how it goes on after a mistake
    rooms.py       the lists that recovery and messages find their way by
    build.py       which node a rule of the grammar makes
    surprise.py    a token that cannot stand where it stands, and what is known around it
    mistakes.py    what is said of it; beginnings.py where a statement should begin, habits.py of
                   words that people bring along
    depth.py       how deep an expression nests
    layout/        text -> the same program in its one layout, for `serq fmt`
    parse.py       the front: `parse_program`, `parse_expression`, `parse_library`
"""
