"""A reservoir keeps some of the samples, each as likely as any other."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import serq
from serq.machine import native
from serq.machine import run as running
from serq.machine.fused.run import Link
from serq.machine.records import Samples
from serq.machine.reservoir import _Reservoir
from serq.tools.cli import run_command
from tests.support.amounts import share

POISSON = Path(__file__).parents[1] / "bench" / "programs" / "poisson.sq"


def fill(samples: Samples, first: int, count: int) -> None:
    for n in range(first, first + count):
        samples.add(float(n), n, 1, 2.0 * n)


def kept(seed: int, parts: tuple[int, ...], size: int = 10, warmup: float = 0.0) -> Samples:
    samples = Samples()
    reservoir = _Reservoir(samples, size, (seed, 0))
    done = 0
    for part in parts:
        fill(samples, done, part)
        reservoir.take_in(warmup)
        done += part
    reservoir.sort()
    return samples


def test_each_sample_is_as_likely_as_any_other() -> None:
    runs = share(4000)
    found = Counter(n for seed in range(runs) for n in kept(seed, (30, 10)).sessions)
    assert set(found) == set(range(40)) and sum(found.values()) == 10 * runs
    # Kept with probability 1/4: four standard deviations of the count either way.
    assert all(abs(count - runs / 4) < 4 * (runs * 3 / 16) ** 0.5 for count in found.values())


@pytest.mark.parametrize("parts", [(40,), (3, 37), (10, 10, 20), (1,) * 40, (0, 40, 0)])
def test_it_does_not_matter_how_often_it_is_looked_at(parts: tuple[int, ...]) -> None:
    assert kept(5, parts) == kept(5, (25, 15))


def test_samples_stay_whole_and_in_order() -> None:
    samples = kept(3, (17, 500, 483))
    assert samples.seen == 1000 and len(samples.times) == 10
    assert list(samples.times) == sorted(samples.times) == [float(n) for n in samples.sessions]
    assert list(samples.values) == [2 * t for t in samples.times]


def test_fewer_samples_than_there_is_room_for_are_all_kept() -> None:
    assert list(kept(1, (4, 3)).sessions) == list(range(7))


def test_samples_before_the_warm_up_count_for_nothing() -> None:
    samples = kept(1, (20, 20), size=100, warmup=15.0)
    assert samples.seen == 25 and list(samples.sessions) == list(range(15, 40))


def run(reservoir: int | None) -> serq.Report:
    return serq.run(serq.compile(POISSON), horizon=3e6, warmup=2e5, reservoir=reservoir)


def test_a_run_keeps_so_many_of_its_own_samples() -> None:
    whole, some = run(None), run(20)
    for name in ("ttft", "tpot", "response"):
        a, b = whole.client[name], some.client[name]
        assert a.count == b.count > 20 == len(b.samples)
        rows = set(zip(a.times, a.sessions, a.turns, a.samples, strict=True))
        assert set(zip(b.times, b.sessions, b.turns, b.samples, strict=True)) <= rows
    assert whole.stages == some.stages and whole.claims == some.claims


def test_every_machine_keeps_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    by_loop = run(20)
    monkeypatch.setattr(running, "is_fused", lambda machine: False)
    with monkeypatch.context() as patch:
        patch.setattr(running, "is_native", lambda machine: False)
        by_events = run(20)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(native, "PATIENCE", 0.0)
    by_compiler = run(20)
    assert by_loop.to_dict() == by_events.to_dict() == by_compiler.to_dict()


def test_a_claim_at_the_end_reads_every_sample() -> None:
    source = POISSON.read_text().replace(
        "claim within:", "claim all: at end (count(response) == 60);\n  claim within:"
    )
    report = serq.run(serq.compile(source=source), horizon=1e9, arrivals=60, reservoir=5)
    assert report.claim("all").result == "holds"
    assert len(report.observes["response"].samples) == 60 and len(report.client["ttft"].samples) == 5


def test_samples_that_do_not_fit_into_memory_are_said_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def repeat(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Link, "repeat", repeat)
    sarathi = Path(__file__).parents[2] / "examples" / "papers" / "dai_sarathi.sq"
    assert run_command(["run", str(sarathi), "--horizon", "1e9"]) == 1
    assert "SQ0931" in capsys.readouterr().err


def test_the_plain_machine_keeps_all() -> None:
    with pytest.raises(ValueError, match="every sample"):
        serq.run(POISSON, horizon=10.0, plain=True, reservoir=5)


@pytest.mark.parametrize("size", [0, -3, 2.5, True])
def test_a_size_that_means_nothing_is_refused(size: object) -> None:
    with pytest.raises(serq.ProgramError) as error:
        serq.run(POISSON, horizon=10.0, reservoir=size)  # type: ignore[arg-type]
    assert [d.code for d in error.value.diagnostics] == ["SQ0934"]
