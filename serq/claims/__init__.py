"""Claims on the path that a run takes: they read the state and never change it.

In: `serq.ir.claim` and a machine's hooks. Out: one `records.Outcome` per claim.
Imports: `serq.ir`, `serq.machine`. Grows: a kind of claim is a class in `judge`.
"""
