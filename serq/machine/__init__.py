"""From a checked program to what a run of it leaves behind.

In: `serq.ir`. Out: `records.RunRecord`; observers are lent engines and sessions on the way.
Imports: `serq.ir`, `serq.diagnostics`, `serq.source`; numpy only to seed random streams.
Grows: a kind of stage is a file in `stages` and a case in `loop.Machine`; a statement of the server
is a case in `sessions.SessionWriter`; a variable is a row in `scope`.
"""
