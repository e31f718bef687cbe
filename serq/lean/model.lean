module

/-!
The meaning of the statements: one engine that serves its runs in iterations.

A state is the engine at an instant after everything that happens at that instant, and `next` is the
state after its next iteration, or after its wait for the next session. Nothing is proved here, and
everything can be evaluated. Clock values are whole numbers of ticks; arithmetic is exact.
-/

@[expose] public noncomputable section

namespace Serq

/-- One `run` statement of the server: a prefill or a decode of so many tokens. -/
structure Phase where
  decoding : Bool
  tokens : Nat
deriving DecidableEq

abbrev Phase.prefill (tokens : Nat) : Phase := ⟨false, tokens⟩

abbrev Phase.decode (tokens : Nat) : Phase := ⟨true, tokens⟩

/-- A run at the engine: the tokens it still needs, and what its session runs afterwards. -/
structure Run where
  decoding : Bool
  remaining : Nat
  later : List Phase
deriving DecidableEq

/-- The run a session starts when these phases are what is left for it: none when it ends. -/
def start : List Phase → List Run
  | [] => []
  | phase :: later => [⟨phase.decoding, phase.tokens, later⟩]

/-- How sessions arrive. -/
inductive Arrivals where
  /-- One after each gap, the first after one gap. -/
  | renewal (gap : Nat)
  /-- So many at time 0. -/
  | batch (count : Nat)

/-- Whether a run of the program may have `n` sessions in all. -/
def Arrivals.Allow : Arrivals → Nat → Prop
  | renewal _, _ => True
  | batch count, n => n = count

/-- When session number `k` arrives, the first being number 0. -/
def Arrivals.time : Arrivals → Nat → Nat
  | renewal gap, k => (k + 1) * gap
  | batch _, _ => 0

/-- How many of `n` sessions have arrived by time `t`, those of this instant included. -/
def Arrivals.upTo (n t : Nat) : Arrivals → Nat
  | renewal gap => min n (t / gap)
  | batch _ => n

/-- What `only` can read of the engine: its runs, and how many of them decode. -/
structure Running where
  count : Int
  decoding : Int

/-- What `execute` can read: the tokens of the batch, and the runs at the engine. -/
structure Batch where
  tokens : Int
  prefilled : Int
  decoding : Int
  running : Int

/-- A program: an engine, its server and its arrivals. -/
structure Program where
  /-- `tokens cap`: the most tokens of one iteration. -/
  budget : Nat
  /-- `each at most`: the most prefill tokens of one run in one iteration, if there is a limit. -/
  most : Option Nat
  /-- The `advance running` statements, each with its `only`. They serve in joining order;
  `decode first` is one statement for the decodes and another for the prefills. -/
  schedule : List (Running → Run → Bool)
  /-- How long an iteration lasts, in ticks. -/
  execute : Batch → Int
  /-- What every session runs, in this order. -/
  server : List Phase
  arrivals : Arrivals

/-- `a / b` rounded up, for positive `b`. -/
def ceilDiv (a b : Int) : Int := -(-a / b)

/-- A test as a number. -/
def truth (p : Prop) [Decidable p] : Int := if p then 1 else 0

/-- Tokens a run could take in one iteration without a budget. -/
def want (p : Program) (r : Run) : Nat :=
  if r.decoding then min 1 r.remaining
  else match p.most with
    | none => r.remaining
    | some most => min most r.remaining

/-- Hand `left` tokens out, to each what it is offered, in this order and while they last. -/
def fill : Nat → List Nat → List Nat
  | _, [] => []
  | left, offer :: offers => min left offer :: fill (left - min left offer) offers

def running (runs : List Run) : Running where
  count := runs.length
  decoding := runs.countP (·.decoding)

/-- What each statement gives to each run, one statement after the other, when `given` was given
before. A statement passes over the runs that were served. -/
def serve (p : Program) (runs : List Run) :
    List (Running → Run → Bool) → (left : Nat) → (given : List Nat) → List (List Nat)
  | [], _, _ => []
  | only :: rest, left, given =>
    let offer (r : Run) (g : Nat) := if g = 0 ∧ only (running runs) r then want p r else 0
    let share := fill left (List.zipWith offer runs given)
    share :: serve p runs rest (left - share.sum) (List.zipWith (· + ·) given share)

/-- The batch: for each statement, the tokens that each run gets from it. -/
def shares (p : Program) (runs : List Run) : List (List Nat) :=
  serve p runs p.schedule p.budget (runs.map fun _ => 0)

/-- The batch: the tokens that each run gets. -/
def given (p : Program) (runs : List Run) : List Nat :=
  (shares p runs).foldl (List.zipWith (· + ·)) (runs.map fun _ => 0)

/-- Tokens in the batch. -/
def tokens (p : Program) (runs : List Run) : Nat := (given p runs).sum

/-- Prefill tokens in the batch. -/
def prefilled (p : Program) (runs : List Run) : Nat :=
  (List.zipWith (fun r g => if r.decoding then 0 else g) runs (given p runs)).sum

/-- Decodes in the batch. -/
def decoders (p : Program) (runs : List Run) : Nat :=
  (List.zipWith (fun r g => if r.decoding ∧ g ≠ 0 then 1 else 0) runs (given p runs)).sum

/-- How long the batch takes, in ticks. -/
def duration (p : Program) (runs : List Run) : Int :=
  p.execute {
    tokens := tokens p runs
    prefilled := prefilled p runs
    decoding := decoders p runs
    running := runs.length }

/-- The runs that the batch leaves unfinished, in joining order. -/
def unfinished (p : Program) (runs : List Run) : List Run :=
  (List.zipWith (fun r g => { r with remaining := r.remaining - g }) runs (given p runs)).filter
    fun r => r.remaining ≠ 0

/-- The next runs of the sessions whose runs the batch finishes, in the order of serving. -/
def successors (p : Program) (runs : List Run) : List Run :=
  let successor (r : Run) (g : Nat) := if g ≠ 0 ∧ g = r.remaining then start r.later else []
  (shares p runs).flatMap fun share => (List.zipWith successor runs share).flatten

/-- The first runs of `k` new sessions. -/
def newcomers (p : Program) (k : Nat) : List Run := (List.replicate k (start p.server)).flatten

/-- The engine when it may start an iteration: everything that happens at `now` has happened. -/
structure State where
  now : Nat
  /-- Sessions created so far. -/
  arrived : Nat
  /-- Tokens given in earlier iterations. -/
  served : Nat
  /-- The runs at the engine, in the order in which they joined it. -/
  runs : List Run
deriving DecidableEq

/-- Time 0 of a run with `n` sessions. -/
def initial (p : Program) (n : Nat) : State where
  now := 0
  arrived := p.arrivals.upTo n 0
  served := 0
  runs := newcomers p (p.arrivals.upTo n 0)

/-- The state after the iteration that starts in `s`, or, when no run can be served, after the next
arrival. Nothing follows when no session is left to come, or when `execute` is not above 0.

Of an arrival and an iteration's end at one instant the one that was scheduled first happens first.
An arrival is scheduled when the session before it arrives: before the end of the iteration if that
was at the iteration's start or earlier, after it if that was during the iteration. -/
def next (p : Program) (n : Nat) (s : State) : Option State :=
  if tokens p s.runs = 0 then
    if s.arrived < n then
      some { s with
        now := p.arrivals.time s.arrived
        arrived := s.arrived + 1
        runs := s.runs ++ newcomers p 1 }
    else none
  else if duration p s.runs ≤ 0 then none
  else
    let stop := s.now + (duration p s.runs).toNat
    let during := p.arrivals.upTo n (stop - 1)
    let arrived := p.arrivals.upTo n stop
    let before := if during = s.arrived then arrived else during
    some {
      now := stop
      arrived := arrived
      served := s.served + tokens p s.runs
      runs := unfinished p s.runs ++ newcomers p (before - s.arrived)
        ++ successors p s.runs ++ newcomers p (arrived - before) }

/-- The states of the run with `n` sessions. -/
inductive Reachable (p : Program) (n : Nat) : State → Prop where
  | initial : Reachable p n (initial p n)
  | next {s t : State} : Reachable p n s → next p n s = some t → Reachable p n t

/-- The `k`-th state of the run with `n` sessions, if it gets so far. -/
def run (p : Program) (n : Nat) : Nat → Option State
  | 0 => some (initial p n)
  | k + 1 => (run p n k).bind (next p n)

/-- What a claim reads when an iteration starts. -/
structure Iteration where
  /-- The start of the iteration, in ticks. -/
  now : Int
  tokens : Int
  prefilled : Int
  decoders : Int
  /-- Runs at the engine. -/
  residents : Int
  /-- Tokens that the runs could take without a budget. -/
  demand : Int
  /-- Tokens given in earlier iterations. -/
  served : Int
  /-- Sessions created so far. -/
  arrived : Int
deriving DecidableEq

/-- The iteration that starts in `s`. -/
def iteration (p : Program) (s : State) : Iteration where
  now := s.now
  tokens := tokens p s.runs
  prefilled := prefilled p s.runs
  decoders := decoders p s.runs
  residents := s.runs.length
  demand := (s.runs.map (want p)).sum
  served := s.served
  arrived := s.arrived

/-- `claim` is true at the start of every iteration, in every run of the program. -/
def EveryIteration (p : Program) (claim : Iteration → Prop) : Prop :=
  ∀ n, p.arrivals.Allow n → ∀ s, Reachable p n s → tokens p s.runs ≠ 0 → claim (iteration p s)

/-- `claim` is true at the start of some iteration, in some run of the program. -/
def SomeIteration (p : Program) (claim : Iteration → Prop) : Prop :=
  ∃ n, p.arrivals.Allow n ∧ ∃ s, Reachable p n s ∧ tokens p s.runs ≠ 0 ∧ claim (iteration p s)

end Serq
