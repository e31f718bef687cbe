"""The same work for many tasks, in this process or in several, its results in the order of the tasks.

Processes are started afresh ("spawn"), so they share nothing with this one and behave alike on every
platform. They never see an interrupt: whoever presses Ctrl-C ends the process that waits for them, and
it takes them along. Should it die without a word, they end by themselves.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import connection, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, Generic, Protocol, TypeVar

from attrs import define, field

from serq.diagnostics import Diagnostic, InternalError, ProcessEnded, ProgramError

Task = TypeVar("Task")
Result = TypeVar("Result")
TaskIn = TypeVar("TaskIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)

AHEAD = 2
"""Tasks that a process may be ahead of the one whose result is due; what is ahead may be for nothing."""

PATIENCE = 2.0
"""Seconds that a process has to end when it is told to."""


class Work(Protocol[TaskIn, ResultOut]):
    """What is done for each task; pickled once for each process."""

    def start(self) -> Callable[[TaskIn], ResultOut]:
        """Get ready; returns what does one task. Runs in the process that does the tasks."""


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def results_in_order(
    work: Work[Task, Result], tasks: Iterable[Task], jobs: int = 1
) -> Generator[Result, None, None]:
    """The result of each task, in order, as soon as it and all before it are there.

    tasks: taken one by one, a few ahead of the results, so they may be without end. jobs: processes, at
    least 1; with 1 everything is done here. Closing the iterator ends the processes.
    Raises what the work raises for the first task that fails: ProgramError as such, anything else as
    InternalError; and ProcessEnded when a process dies.
    """
    if jobs == 1:
        yield from map(work.start(), tasks)
        return
    with _Crew.of(work, jobs) as crew:
        yield from crew.results(enumerate(tasks))


@define
class _Hand(Generic[Task]):
    """A process that does tasks, one at a time, and the end of its line that is here."""

    process: SpawnProcess
    line: Connection
    is_busy: bool = False


@define
class _Crew(Generic[Task, Result]):
    hands: list[_Hand[Task]] = field(factory=list)

    @classmethod
    @contextmanager
    def of(cls, work: Work[Task, Result], count: int) -> Iterator[_Crew[Task, Result]]:
        """Processes that are ready for tasks, and are gone afterwards."""
        spawn = multiprocessing.get_context("spawn")
        crew: _Crew[Task, Result] = cls()
        # It is started first: it would let interrupts through again while the others are started.
        resource_tracker.ensure_running()
        try:
            with _interrupts_held():
                for _ in range(count):
                    here, there = spawn.Pipe()
                    process = spawn.Process(target=_serve, args=(there,), daemon=True)
                    process.start()
                    there.close()
                    crew.hands.append(_Hand(process, here))
            for hand in crew.hands:
                crew.tell(hand, work)
            yield crew
        finally:
            with _interrupts_held():
                crew.dismiss()

    def tell(self, hand: _Hand[Task], message: Any) -> None:
        """Send something to a process."""
        try:
            hand.line.send(message)
        except (BrokenPipeError, ConnectionResetError):
            self.mourn(hand)

    def results(self, tasks: Iterator[tuple[int, Task]]) -> Iterator[Result]:
        """Hand out the tasks, and the results in their order."""
        done: dict[int, Any] = {}
        due = given = 0
        more = True
        while True:
            for hand in self.hands:
                if more and not hand.is_busy and given < due + AHEAD * len(self.hands):
                    task = next(tasks, None)
                    if task is None:
                        more = False
                        break
                    self.tell(hand, task)
                    hand.is_busy = True
                    given += 1
            while due in done:
                answer = done.pop(due)
                due += 1
                yield _result(answer)
            if due == given and not more:
                return
            busy = {hand.line: hand for hand in self.hands if hand.is_busy}
            if not busy:
                continue
            for line in connection.wait(list(busy)):
                hand = busy[line]  # type: ignore[index]
                try:
                    number, answer = hand.line.recv()
                except (EOFError, ConnectionResetError):
                    self.mourn(hand)
                done[number] = answer
                hand.is_busy = False

    def mourn(self, hand: _Hand[Task]) -> None:
        """Say that a process has died, and what may have done it."""
        hand.process.join(PATIENCE)
        code = hand.process.exitcode
        said = "a process that ran a part of the seeds has been ended"
        if code is not None and code < 0:
            raise ProcessEnded(f"{said} by signal {-code}; if memory was short, ask for fewer (`--jobs 1`)")
        raise ProcessEnded(
            f"{said}, with exit code {code}; a script that asks for several has to do so under "
            '`if __name__ == "__main__":`, and `jobs=1` needs none'
        )

    def dismiss(self) -> None:
        """End all processes, whatever they do."""
        for hand in self.hands:
            hand.line.close()
            hand.process.terminate()
        for hand in self.hands:
            hand.process.join(PATIENCE)
            if hand.process.exitcode is None:
                hand.process.kill()
                hand.process.join()
            hand.process.close()


def _result(answer: Any) -> Any:
    """The result in an answer, or its failure raised."""
    kind, content = answer
    if kind == "done":
        return content
    if kind == "refused":
        raise ProgramError(content)
    raise InternalError(content)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Interrupts come afterwards, and never to processes that are started meanwhile."""
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ---------------------------------------------------------------- in the other process


def _serve(line: Connection) -> None:
    """Do tasks until the line ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        perform = _start(line.recv())
        while True:
            number, task = line.recv()
            line.send((number, _answer(perform, task)))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


def _start(work: Work[Any, Any]) -> Callable[[Any], Any]:
    """What does the tasks; what went wrong in getting ready is the answer to each of them."""
    try:
        return work.start()
    except Exception as error:
        reason = error

        def fail(_: Any) -> Any:
            raise reason

        return fail


def _answer(perform: Callable[[Any], Any], task: Any) -> tuple[str, Any]:
    try:
        return "done", perform(task)
    except ProgramError as error:
        refused: tuple[Diagnostic, ...] = error.diagnostics
        return "refused", refused
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"


def _end_with_parent() -> None:
    """Leave as soon as the process that asked is gone, even in the midst of a run."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
