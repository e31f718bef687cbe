"""What many runs of a program tell: replications, verdicts with error bounds, stability.

In: a program and seeds. Out: `Replications`, `Verification`, `Stability`, each with a text and a JSON form.
Imports: the machine, the claims and the report, wired by `serq.tools.running`; numpy where figures are made.
Grows: a study is a file that says which runs it needs (`workers`) and what it makes of them.
"""
