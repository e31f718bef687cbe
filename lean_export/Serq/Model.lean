module

/-!
The meaning of the statements: one engine that serves its runs in iterations.

A state is the engine at an instant after everything that happens at that instant, and `next` is the
state after its next iteration, or after its wait for the next sessions. Nothing is proved here, and
everything can be evaluated. Clock values are whole numbers of ticks; arithmetic is exact.
-/

@[expose] public noncomputable section

namespace Serq

/-! ## Sessions -/

/-- One `run` statement of the server: a prefill or a decode of so many tokens. -/
structure Phase where
  decoding : Bool
  tokens : Nat
deriving DecidableEq

abbrev Phase.prefill (tokens : Nat) : Phase := ⟨false, tokens⟩

abbrev Phase.decode (tokens : Nat) : Phase := ⟨true, tokens⟩

/-- What comes from outside in one run of a program: the sessions, numbered from 0. -/
structure Sessions where
  /-- How many there are in all. -/
  count : Nat
  /-- When one arrives, in ticks. -/
  time : Nat → Nat
  /-- What it runs, one after the other. -/
  phases : Nat → List Phase

/-- How many sessions have arrived by time `t`, if `known` have, and no more than `more` others. -/
def Sessions.due (w : Sessions) (t : Nat) : (more known : Nat) → Nat
  | 0, known => known
  | more + 1, known => if w.time known ≤ t then w.due t more (known + 1) else known

/-- How many sessions have arrived by time `t`, those of this instant included, if `known` have. -/
def Sessions.upTo (w : Sessions) (t known : Nat) : Nat := w.due t (w.count - known) known

/-- Sessions number `a` to `b - 1`. -/
def Sessions.between (w : Sessions) (a b : Nat) : List (List Phase) :=
  (List.range' a (b - a)).map w.phases

/-! ## Programs -/

/-- A run at the engine. -/
structure Run where
  /-- The number of its session's admission; 0 for all where there are no slots. -/
  ticket : Nat
  /-- Runs are numbered as they join the engine. -/
  joined : Nat
  decoding : Bool
  /-- Tokens it still needs. -/
  remaining : Nat
  /-- What its session runs afterwards. -/
  later : List Phase
deriving DecidableEq

/-- What `only` and the keys of an order can read of the engine. -/
structure Running where
  /-- Runs at the engine. -/
  count : Int
  /-- Those that decode. -/
  decoding : Int
  /-- Sessions that wait for a slot. -/
  waiting : Int
  registers : List Int

/-- The value of a register. -/
abbrev Running.register (v : Running) (k : Nat) : Int := v.registers.getD k 0

/-- What the other tests of a schedule can read: also what this iteration has given so far. -/
structure Plan extends Running where
  tokens : Int
  prefilled : Int
  admitted : Int

abbrev Plan.register (v : Plan) (k : Nat) : Int := v.registers.getD k 0

/-- What `execute` can read. -/
structure Batch where
  tokens : Int
  prefilled : Int
  decoding : Int
  running : Int
  waiting : Int
  registers : List Int

abbrev Batch.register (b : Batch) (k : Nat) : Int := b.registers.getD k 0

/-- What an iteration does, statement after statement. Whatever follows a `branch` stands in both
of its ways. -/
inductive Schedule where
  | done
  /-- `advance running`: by ascending keys, then in standing order. -/
  | advance (only : Running → Run → Bool) (keys : Running → Run → List Int) (after : Schedule)
  /-- The first prefill in standing order, and nobody else. -/
  | alone (after : Schedule)
  /-- `admit waiting`. -/
  | admit (only : Running → Run → Bool) (condition : Plan → Bool) (after : Schedule)
  /-- `set`, of a register. -/
  | assign (register : Nat) (value : Plan → Int) (after : Schedule)
  | branch (test : Plan → Bool) (yes no : Schedule)

/-- No keys: standing order. -/
def standing (_ : Running) (_ : Run) : List Int := []

/-- `decode first`. -/
def decodeFirst (_ : Running) (r : Run) : List Int := [if r.decoding then 0 else 1]

/-- No `only`. -/
def everyone (_ : Running) (_ : Run) : Bool := true

/-- No `while`. -/
def always (_ : Plan) : Bool := true

/-- An engine. -/
structure Program where
  /-- `tokens cap`: the most tokens of one iteration. -/
  budget : Nat
  /-- `each at most`: the most prefill tokens of one run in one iteration, if there is a limit. -/
  most : Option Nat
  /-- How many sessions may be at the engine at once; none where they need no slot. -/
  slots : Option Nat
  /-- The registers as they begin. -/
  registers : List Int
  schedule : Schedule
  /-- How long an iteration lasts, in ticks. -/
  execute : Batch → Int

/-! ## One batch -/

/-- A batch while it is being formed. -/
structure Forming where
  /-- Budget that is left. -/
  left : Nat
  /-- Who got how many tokens, in the order of serving. -/
  batch : List (Run × Nat)
  /-- The other runs at the engine. -/
  rest : List Run
  /-- What the sessions run that wait for a slot. -/
  waiting : List (List Phase)
  /-- The number of the next admission. -/
  ticket : Nat
  /-- The number of the next run that joins. -/
  joined : Nat
  registers : List Int
  /-- Sessions admitted by this attempt. -/
  admitted : Nat

/-- The runs at the engine. -/
def Forming.runs (f : Forming) : List Run := f.batch.map (·.1) ++ f.rest

/-- Tokens in a batch. -/
def tokensOf (batch : List (Run × Nat)) : Nat := (batch.map (·.2)).sum

/-- Prefill tokens in a batch. -/
def prefilledOf (batch : List (Run × Nat)) : Nat :=
  (batch.map fun x => if x.1.decoding then 0 else x.2).sum

/-- Decodes in a batch. -/
def decodersOf (batch : List (Run × Nat)) : Nat := batch.countP (·.1.decoding)

def Forming.running (f : Forming) : Running where
  count := f.runs.length
  decoding := f.runs.countP (·.decoding)
  waiting := f.waiting.length
  registers := f.registers

def Forming.plan (f : Forming) : Plan :=
  { f.running with
    tokens := tokensOf f.batch
    prefilled := prefilledOf f.batch
    admitted := f.admitted }

/-- Tokens a run could take in one iteration without a budget. -/
def want (p : Program) (r : Run) : Nat :=
  if r.decoding then min 1 r.remaining
  else match p.most with
    | none => r.remaining
    | some most => min most r.remaining

/-- Whether keys `a` come before keys `b`; `tie` decides where they are equal. -/
def inOrder (tie : Bool) : List Int → List Int → Bool
  | a :: as, b :: bs => if a = b then inOrder tie as bs else decide (a < b)
  | _, _ => tie

/-- Whether `r` comes before `s`: by keys, then by admission, then by joining. -/
def before (keys : Run → List Int) (r s : Run) : Bool :=
  inOrder (if r.ticket = s.ticket then Nat.ble r.joined s.joined else Nat.blt r.ticket s.ticket)
    (keys r) (keys s)

def insert (keys : Run → List Int) (r : Run) : List Run → List Run
  | [] => [r]
  | s :: ss => if before keys r s then r :: s :: ss else s :: insert keys r ss

def sort (keys : Run → List Int) : List Run → List Run
  | [] => []
  | r :: rs => insert keys r (sort keys rs)

/-- Give tokens to the runs that pass a test, one after the other while `left` lasts. -/
def pass (p : Program) (test : Run → Bool) : (left : Nat) → List Run → List (Run × Nat) × List Run
  | _, [] => ([], [])
  | left, r :: rs =>
    if left ≠ 0 ∧ test r then
      let others := pass p test (left - min left (want p r)) rs
      ((r, min left (want p r)) :: others.1, others.2)
    else
      let others := pass p test left rs
      (others.1, r :: others.2)

/-- Serve, of the runs without tokens, those that pass a test. -/
def Forming.serve (p : Program) (test : Run → Bool) (keys : Run → List Int) (f : Forming) :
    Forming :=
  let served := pass p test f.left (sort keys f.rest)
  { f with
    left := f.left - tokensOf served.1
    batch := f.batch ++ served.1
    rest := served.2 }

/-- Whether a run is the first prefill among those without tokens. -/
def Forming.foremost (f : Forming) (r : Run) : Bool :=
  ((sort (fun _ => []) f.rest).find? (!·.decoding)).any (·.joined == r.joined)

/-- The run a session starts when these phases are what is left for it: none when it ends. -/
def start (ticket joined : Nat) : List Phase → List Run
  | [] => []
  | phase :: later => [⟨ticket, joined, phase.decoding, phase.tokens, later⟩]

/-- Whether all slots are taken. -/
def Forming.full (p : Program) (f : Forming) : Bool :=
  match p.slots with
  | none => false
  | some slots => decide (slots ≤ f.runs.length)

/-- Admit the first of those that wait, `phases`, before the others, `rest`; it is served at once
if `only` allows it. -/
def Forming.admitOne (p : Program) (only : Running → Run → Bool) (phases : List Phase)
    (others : List (List Phase)) (f : Forming) : Forming :=
  let run := start f.ticket f.joined phases
  let g := { f with
    rest := f.rest ++ run
    waiting := others
    ticket := f.ticket + 1
    joined := f.joined + 1
    admitted := f.admitted + 1 }
  let served := pass p (only g.running) f.left run
  { g with
    left := f.left - tokensOf served.1
    batch := f.batch ++ served.1
    rest := f.rest ++ served.2 }

/-- Admit those that wait, while the budget lasts, the condition holds, and a slot is free. -/
def Forming.admit (p : Program) (only : Running → Run → Bool) (condition : Plan → Bool) :
    List (List Phase) → Forming → Forming
  | [], f => f
  | phases :: others, f =>
    if f.left = 0 ∨ condition f.plan = false ∨ f.full p = true then f
    else (f.admitOne p only phases others).admit p only condition others

/-- Follow a schedule. -/
def form (p : Program) : Schedule → Forming → Forming
  | .done, f => f
  | .advance only keys after, f => form p after (f.serve p (only f.running) (keys f.running))
  | .alone after, f => form p after (f.serve p f.foremost (fun _ => []))
  | .admit only condition after, f => form p after (f.admit p only condition f.waiting)
  | .assign register value after, f =>
    form p after { f with registers := f.registers.set register (value f.plan) }
  | .branch test yes no, f => if test f.plan then form p yes f else form p no f

/-! ## Iterations -/

/-- The engine when it may start an iteration: everything that happens at `now` has happened. -/
structure State where
  now : Nat
  /-- Sessions created so far. -/
  arrived : Nat
  /-- Tokens given in earlier iterations. -/
  served : Nat
  /-- The runs at the engine, in any order. -/
  runs : List Run
  waiting : List (List Phase)
  ticket : Nat
  joined : Nat
  registers : List Int
deriving DecidableEq

/-- The attempt to form a batch. -/
def State.form (p : Program) (s : State) : Forming :=
  Serq.form p p.schedule {
    left := p.budget
    batch := []
    rest := s.runs
    waiting := s.waiting
    ticket := s.ticket
    joined := s.joined
    registers := s.registers
    admitted := 0 }

/-- How long the batch takes, in ticks. -/
def Forming.duration (p : Program) (f : Forming) : Int :=
  p.execute {
    tokens := tokensOf f.batch
    prefilled := prefilledOf f.batch
    decoding := decodersOf f.batch
    running := f.runs.length
    waiting := f.waiting.length
    registers := f.registers }

/-- The runs of sessions that go on, in the order in which they do. -/
def line : (joined : Nat) → List (Nat × List Phase) → List Run
  | _, [] => []
  | joined, (ticket, phases) :: others => start ticket joined phases ++ line (joined + 1) others

/-- `sessions` go on, each with its ticket and what is left for it. -/
def State.join (s : State) (sessions : List (Nat × List Phase)) : State :=
  { s with runs := s.runs ++ line s.joined sessions, joined := s.joined + sessions.length }

/-- Sessions come: they join the engine, or they wait where it has slots. -/
def State.come (p : Program) (s : State) (sessions : List (List Phase)) : State :=
  match p.slots with
  | none => s.join (sessions.map (0, ·))
  | some _ => { s with waiting := s.waiting ++ sessions }

/-- The sessions that a batch lets go on, in the order of serving. -/
def Forming.finished (f : Forming) : List (Nat × List Phase) :=
  (f.batch.filter fun x => x.2 = x.1.remaining).map fun x => (x.1.ticket, x.1.later)

/-- A run after `n` of its tokens. -/
def Run.after (r : Run) (n : Nat) : Run :=
  ⟨r.ticket, r.joined, r.decoding, r.remaining - n, r.later⟩

/-- The runs that a batch leaves unfinished. -/
def Forming.unfinished (f : Forming) : List Run :=
  ((f.batch.map fun x => x.1.after x.2).filter fun r => r.remaining ≠ 0) ++ f.rest

/-- Time 0 of a run. -/
def initial (p : Program) (w : Sessions) : State :=
  State.come p {
    now := 0
    arrived := w.upTo 0 0
    served := 0
    runs := []
    waiting := []
    ticket := 0
    joined := 0
    registers := p.registers } (w.between 0 (w.upTo 0 0))

/-- The state after an iteration with the batch of `f` that ends at `stop`.

Of an arrival and an iteration's end at one instant the one that was scheduled first happens first.
An arrival is scheduled when the session before it arrives: before the end of the iteration if that
was at the iteration's start or earlier, after it if that was during the iteration. -/
def State.after (p : Program) (w : Sessions) (s : State) (f : Forming) (stop : Nat) : State :=
  let during := w.upTo (stop - 1) s.arrived
  let arrived := w.upTo stop during
  let before := if during = s.arrived then arrived else during
  let ended : State := {
    now := stop
    arrived := arrived
    served := s.served + tokensOf f.batch
    runs := f.unfinished
    waiting := f.waiting
    ticket := f.ticket
    joined := f.joined
    registers := f.registers }
  (((ended.come p (w.between s.arrived before)).join f.finished).come p (w.between before arrived))

/-- The state after the wait for the next session, and all that come at its instant. An attempt
that gives no token leaves what it admitted, and nothing else when it admitted nobody. -/
def State.wait (p : Program) (w : Sessions) (s : State) (f : Forming) : State :=
  let still := if f.admitted = 0 then s else
    { s with runs := f.rest, waiting := f.waiting, ticket := f.ticket, joined := f.joined,
             registers := f.registers }
  let arrived := w.upTo (w.time s.arrived) s.arrived
  { still with now := w.time s.arrived, arrived := arrived }.come p (w.between s.arrived arrived)

/-- The state after the iteration that starts in `s`, or, when no run can be served, after the next
arrival. Nothing follows when no session is left to come, or when `execute` is not above 0. -/
def next (p : Program) (w : Sessions) (s : State) : Option State :=
  let f := s.form p
  if tokensOf f.batch = 0 then
    if s.arrived < w.count then some (s.wait p w f) else none
  else if f.duration p ≤ 0 then none
  else some (s.after p w f (s.now + (f.duration p).toNat))

/-- The states of a run. -/
inductive Reachable (p : Program) (w : Sessions) : State → Prop where
  | initial : Reachable p w (initial p w)
  | next {s t : State} : Reachable p w s → next p w s = some t → Reachable p w t

/-- The state `k` steps after `s`, if the run gets so far. -/
def run (p : Program) (w : Sessions) : Nat → State → Option State
  | 0, s => some s
  | k + 1, s => (next p w s).bind (run p w k)

/-! ## Claims -/

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
  /-- Sessions that wait for a slot. -/
  waiting : Int
  registers : List Int
deriving DecidableEq

abbrev Iteration.register (i : Iteration) (k : Nat) : Int := i.registers.getD k 0

/-- The iteration that starts in `s`. -/
def iteration (p : Program) (s : State) : Iteration :=
  let f := s.form p
  { now := s.now
    tokens := tokensOf f.batch
    prefilled := prefilledOf f.batch
    decoders := decodersOf f.batch
    residents := f.runs.length
    demand := (f.runs.map (want p)).sum
    served := s.served
    arrived := s.arrived
    waiting := f.waiting.length
    registers := f.registers }

/-- Whether an iteration starts in `s`. -/
def Starts (p : Program) (s : State) : Prop := tokensOf (s.form p).batch ≠ 0

instance (p : Program) (s : State) : Decidable (Starts p s) := inferInstanceAs (Decidable (_ ≠ _))

/-- `claim` is true at the start of every iteration, in every run of the program with sessions of
this kind. -/
def EveryIteration (p : Program) (workload : Sessions → Prop) (claim : Iteration → Prop) : Prop :=
  ∀ w, workload w → ∀ s, Reachable p w s → Starts p s → claim (iteration p s)

/-- What a claim at the end reads. -/
structure Ending where
  /-- When the run stops, in ticks: as the last session ends, or later. -/
  now : Int
  /-- Sessions that came and ended. -/
  sessions : Int
  /-- Tokens given. -/
  served : Int
deriving DecidableEq

def ending (s : State) (stop : Nat) : Ending := ⟨stop, s.arrived, s.served⟩

/-- Everybody has come and ended. -/
def State.Ended (w : Sessions) (s : State) : Prop :=
  s.arrived = w.count ∧ s.runs = [] ∧ s.waiting = []

instance (w : Sessions) (s : State) : Decidable (s.Ended w) :=
  inferInstanceAs (Decidable (_ ∧ _ ∧ _))

/-- `claim` is true whenever a run of the program stops with no session left, with sessions of this
kind. -/
def AtEnd (p : Program) (workload : Sessions → Prop) (claim : Ending → Prop) : Prop :=
  ∀ w, workload w → ∀ s, Reachable p w s → s.Ended w → ∀ stop, s.now ≤ stop → claim (ending s stop)

/-- `claim` is true at the start of some iteration, in some run of the program with sessions of
this kind. -/
def SomeIteration (p : Program) (workload : Sessions → Prop) (claim : Iteration → Prop) : Prop :=
  ∃ w, workload w ∧ ∃ s, Reachable p w s ∧ Starts p s ∧ claim (iteration p s)

/-! ## Workloads and functions -/

/-- One session after each gap, the first after one gap. -/
def Renewal (gap : Nat) (w : Sessions) : Prop := ∀ k, w.time k = (k + 1) * gap

/-- So many sessions, all at time 0. -/
def AtOnce (count : Nat) (w : Sessions) : Prop := w.count = count ∧ ∀ k, w.time k = 0

/-- One session after another, at any times. -/
def Apart (w : Sessions) : Prop := ∀ k, w.time k < w.time (k + 1)

/-- `a / b` rounded up, for positive `b`. -/
def ceilDiv (a b : Int) : Int := -(-a / b)

/-- A test as a number. -/
def truth (p : Prop) [Decidable p] : Int := if p then 1 else 0

end Serq
