"""The shipped examples are checked without a word and give the figures their comments promise."""

from __future__ import annotations

from pathlib import Path

import pytest

import serq

EXAMPLES = Path(__file__).parents[2] / "examples"
ELSEWHERE = ("engines", "lib", "multi-turn", "dai_random")  # have their tests in tests/examples
PROGRAMS = [p for p in sorted(EXAMPLES.rglob("*.sq")) if p.parent.name not in ELSEWHERE]
LONG = 5_000_000


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_an_example_is_checked_without_a_word(path: Path) -> None:
    assert serq.check_program(path) == ()


def test_sarathi_keeps_every_claim() -> None:
    """Arrivals and iterations by arithmetic: one of each per 46750 and 4675; the rest by the reference."""
    report = serq.run(EXAMPLES / "papers/dai_sarathi.sq", horizon=LONG)
    assert {c.name: (c.result, c.checked) for c in report.claims} == {
        "work_conserving": ("holds", 1060),
        "token_rate": ("holds", 1060),
        "bounded": ("holds", 1060),
    }
    assert (report.arrivals, report.ended, report.events) == (LONG // 46750, 7, 1165)
    # 3 iterations of prefill, 990 of decode, each 4675 long.
    assert report.observes["response"].mean == (3 + 990) * 4675
    (llm,) = report.stages
    assert llm.mean_number == pytest.approx(52.737135, rel=1e-9)
    assert llm.utilization == pytest.approx((LONG - 46750) / LONG, rel=1e-9)
    assert llm.mean_decode_step == 4675
    assert report.client["ttft"].mean == pytest.approx(23864.7619047619, rel=1e-9)


def test_fastertransformer_wastes_its_budget() -> None:
    """At 93500 the second request's 290 prompt tokens wait while one decode runs."""
    report = serq.run(EXAMPLES / "papers/dai_fastertransformer.sq", horizon=LONG)
    waste = report.claim("not_work_conserving")
    assert (waste.result, waste.first, waste.checked) == ("witnessed", 2 * 46750, 1060)
    assert report.claim("token_rate").result == "holds"
    (llm,) = report.stages
    assert (llm.mixed, llm.mean_decode_batch) == (0, 1)
    assert llm.prefill_only == pytest.approx(0.00561, rel=1e-9)


@pytest.mark.parametrize(("budget", "smooth"), [(512, "fails"), (256, "holds")])
def test_hello_is_smooth_with_half_the_budget(budget: int, smooth: str) -> None:
    program = serq.compile(EXAMPLES / "hello.sq", sets={"budget": budget})
    report = serq.run(program, horizon=10_000)
    assert report.claim("work_conserving").result == "holds"
    assert report.claim("smooth").result == smooth


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_the_reference_agrees_about_the_examples(path: Path, reference: object) -> None:
    import json

    horizon = 500_000.0 if path.parent.name == "papers" else 5_000.0
    theirs = json.loads(
        reference.run(reference.compile(str(path), horizon=horizon)).json()  # type: ignore[attr-defined]
    )
    ours = serq.run(path, horizon=horizon).to_dict()
    assert ours["claims"] == theirs["claims"]
    assert ours["events"] == theirs["events"]
    for kind in ("observes", "client", "gauges"):
        for name, figures in theirs[kind].items():
            for figure, value in figures.items():
                got = ours[kind][name][figure]
                assert got is value or got == pytest.approx(value, rel=1e-9, abs=1e-9), name
