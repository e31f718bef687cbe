"""The plain machine: a second reading of the semantics, written to be read.

It visits everybody, sums every total anew and walks expressions as trees, so it is slow, and what it
does can be checked against the text sentence by sentence. A run on it leaves the same `RunRecord` as a run on
the fast machine, to the last event; tests hold the two against each other.
In: a checked `Program` and `Settings`. Out: a `RunRecord`, claims included. Imports: `serq.ir`, the
data files of `serq.machine` (records, draws, values, trace).
Read in this order: `state` (what there is), `evaluate`, `lines`, `caches`, `pools`, `tokens`, `sessions`,
`engines`, `claims`, `loop`.
"""
