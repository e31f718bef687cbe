"""What a program is: frozen records in closed unions, no behaviour.

In: nothing. Out: `Program` and its parts. Imports: `serq.source`, attrs.
Grows: a block of the language is a file here; a new record is a row in its union, and mypy's
`assert_never` names every reader that has to learn it.
"""
