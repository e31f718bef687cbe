"""Every law has its moments, and the draws of streams come when and as often as they should.

Means and variances are in closed form, by the formula named with each law; they are compared within
four standard errors of the sample, ten thousand draws at once and a million in the full run.
"""

from __future__ import annotations

import math
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

import serq
from serq.ir.laws import law_fault, law_mean
from serq.ir.moments import LAWS
from serq.machine import laws
from serq.machine.arrivals import next_in_stages
from serq.machine.draws import OutsideLaw, Stream

STANDARD_ERRORS = 4


def gamma_moment(shape: float, order: int) -> float:
    return math.gamma(1 + order / shape)


def weibull_variance(shape: float, mean: float) -> float:
    """mean^2 (Gamma(1 + 2/k) / Gamma(1 + 1/k)^2 - 1)."""
    return mean**2 * (gamma_moment(shape, 2) / gamma_moment(shape, 1) ** 2 - 1)


VARIANCES = [
    ("exp", (3.0,), 9.0),
    ("det", (3.0,), 0.0),
    ("uniform", (1.0, 4.0), 9 / 12),
    ("erlang", (3.0, 2.0), 4 / 3),
    ("h2", (2.0, 4.0), 16.0),
    ("bernoulli", (0.3,), 0.21),
    ("poisson", (0.0,), 0.0),
    ("poisson", (0.4,), 0.4),
    ("poisson", (3.7,), 3.7),
    ("poisson", (250.0,), 250.0),
    ("binomial", (1.0, 0.3), 0.21),
    ("binomial", (12.0, 0.25), 2.25),
    ("binomial", (900.0, 0.9), 81.0),
    ("binomial", (5.0, 1.0), 0.0),
    ("geometric", (1.0,), 0.0),
    ("geometric", (0.2,), 0.8 / 0.04),
    ("geometric", (0.001,), 0.999 / 1e-6),
    ("gamma", (0.25, 2.0), 16.0),
    ("gamma", (1.0, 2.0), 4.0),
    ("gamma", (7.5, 3.0), 9 / 7.5),
    ("lognormal", (5.0, 0.0), 0.0),
    ("lognormal", (5.0, 0.8), 16.0),
    ("weibull", (0.8, 2.0), weibull_variance(0.8, 2.0)),
    ("weibull", (2.0, 3.0), weibull_variance(2.0, 3.0)),
    ("pareto", (9.0, 2.0), 4.0 * 9 / (64 * 7)),  # least^2 a / ((a - 1)^2 (a - 2))
    ("table", (1.0, 0.5, 2.0, 0.25, 7.0, 0.25), 0.5 + 1 + 49 / 4 - 2.75**2),
]


def draws(law: str, parameters: tuple[float, ...], count: int, seed: int = 1) -> np.ndarray:
    stream = Stream(seed, "machine")
    if law == "table":
        table = laws.Table(parameters)
        return np.array([stream.pick(table) for _ in range(count)])
    draw = getattr(stream, law)
    return np.array([draw(*parameters) for _ in range(count)])


def check_moments(law: str, parameters: tuple[float, ...], variance: float, count: int) -> None:
    sample = draws(law, parameters, count)
    mean = law_mean(law, parameters)
    assert mean is not None
    spread = (sample - mean) ** 2
    allowed = STANDARD_ERRORS / math.sqrt(count)
    # A lognormal mean of exactly its parameter has no spread but rounding.
    assert abs(sample.mean() - mean) <= allowed * math.sqrt(variance) + 1e-12 * abs(mean)
    assert abs(spread.mean() - variance) <= allowed * spread.std() + 1e-12 * mean**2


def case_name(value: object) -> str | None:
    return value if isinstance(value, str) else None


@pytest.mark.parametrize(("law", "parameters", "variance"), VARIANCES, ids=case_name)
def test_a_law_has_its_moments(law: str, parameters: tuple[float, ...], variance: float) -> None:
    check_moments(law, parameters, variance, 10_000)


@pytest.mark.slow
@pytest.mark.parametrize(("law", "parameters", "variance"), VARIANCES, ids=case_name)
def test_a_law_has_its_moments_over_a_million_draws(
    law: str, parameters: tuple[float, ...], variance: float
) -> None:
    check_moments(law, parameters, variance, 1_000_000)


def test_every_law_is_tested() -> None:
    assert {law for law, *_ in VARIANCES} | {"empirical"} == set(LAWS)


PROBABILITIES = {
    ("poisson", (3.7,)): lambda k: math.exp(-3.7) * 3.7**k / math.factorial(k),
    ("binomial", (12.0, 0.25)): lambda k: math.comb(12, k) * 0.25**k * 0.75 ** (12 - k) if k <= 12 else 0.0,
    ("binomial", (7.0, 0.9)): lambda k: math.comb(7, k) * 0.9**k * 0.1 ** (7 - k) if k <= 7 else 0.0,
    ("geometric", (0.3,)): lambda k: 0.3 * 0.7 ** (k - 1) if k >= 1 else 0.0,
    ("table", (1.0, 0.5, 2.0, 0.25, 7.0, 0.25)): lambda k: {1: 0.5, 2: 0.25, 7: 0.25}.get(k, 0.0),
}


@pytest.mark.parametrize(("law", "parameters"), PROBABILITIES, ids=case_name)
def test_whole_numbers_come_with_their_probabilities(law: str, parameters: tuple[float, ...]) -> None:
    count = 20_000
    sample = draws(law, parameters, count, seed=7)
    assert (sample == np.floor(sample)).all()
    for k in range(15):
        p = PROBABILITIES[law, parameters](k)
        assert abs((sample == k).mean() - p) <= STANDARD_ERRORS * math.sqrt(p * (1 - p) / count)


QUANTILES = {
    ("lognormal", (5.0, 0.8)): lambda q: math.exp(
        math.log(5) - math.log(1.64) / 2 + math.sqrt(math.log(1.64)) * NormalDist().inv_cdf(q)
    ),
    ("weibull", (0.8, 2.0)): lambda q: 2 / math.gamma(2.25) * (-math.log(1 - q)) ** 1.25,
    ("pareto", (1.5, 2.0)): lambda q: 2 * (1 - q) ** (-1 / 1.5),
    ("gamma", (1.0, 2.0)): lambda q: -2 * math.log(1 - q),
}


@pytest.mark.parametrize(("law", "parameters"), QUANTILES, ids=case_name)
def test_a_law_has_its_quantiles(law: str, parameters: tuple[float, ...]) -> None:
    count = 20_000
    sample = draws(law, parameters, count, seed=3)
    for q in (0.01, 0.1, 0.5, 0.9, 0.99):
        below = (sample <= QUANTILES[law, parameters](q)).mean()
        assert abs(below - q) <= STANDARD_ERRORS * math.sqrt(q * (1 - q) / count)


def test_a_gamma_of_small_shape_is_above_zero() -> None:
    """Most of its draws are smaller than any double; the sum of many keeps its mean."""
    sample = draws("gamma", (0.01, 1.0), 20_000)
    assert (sample > 0).all()
    assert abs(sample.mean() - 1) < STANDARD_ERRORS * 10 / math.sqrt(20_000)


@pytest.mark.parametrize("u", [0.0, 0.5, 1 - 2**-53])
def test_the_ends_of_the_uniform_numbers_give_finite_draws(u: float, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(1, "machine")
    monkeypatch.setattr(Stream, "uniform01", lambda self: u)
    for law, parameters, _ in VARIANCES:
        if law not in ("table", "gamma"):  # the same number for ever is never accepted by a rejection
            assert math.isfinite(getattr(stream, law)(*parameters)), law
    assert stream.pick(laws.Table((1.0, 0.5, 2.0, 0.5, 3.0, 0.0))) in (1.0, 2.0)


# ---------------------------------------------------------------- parameters outside their law

OUTSIDE = [
    ("poisson", (-1.0,)), ("poisson", (1e7,)), ("poisson", (math.nan,)), ("binomial", (2.5, 0.5)),
    ("binomial", (-1.0, 0.5)), ("binomial", (3.0, 1.5)), ("geometric", (0.0,)), ("geometric", (1.1,)),
    ("gamma", (0.0, 1.0)), ("gamma", (2.0, -1.0)), ("gamma", (math.inf, 1.0)), ("lognormal", (1.0, -1.0)),
    ("lognormal", (math.inf, 1.0)), ("weibull", (0.0, 1.0)), ("weibull", (1.0, math.nan)),
    ("pareto", (0.0, 1.0)), ("pareto", (2.0, -1.0)), ("pareto", (2.0, math.inf)),
]  # fmt: skip


@pytest.mark.parametrize(("law", "parameters"), OUTSIDE, ids=case_name)
def test_parameters_without_a_law_are_refused(law: str, parameters: tuple[float, ...]) -> None:
    fault = law_fault(law, parameters)
    assert fault
    with pytest.raises(OutsideLaw) as refused:
        getattr(Stream(1, "machine"), law)(*parameters)
    assert refused.value.fault == fault
    assert law_fault(law, [None] * len(parameters)) is None


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ((1.0, 0.5, 2.0, 0.4), "its probabilities sum to 0.9, and they have to sum to 1"),
        ((1.0, 0.5, 2.0, 0.6), "its probabilities sum to 1.1, and they have to sum to 1"),
        ((1.0, 1.5, 2.0, -0.5), "a probability is a number from 0 to 1"),
        ((math.inf, 1.0), "its values are finite numbers"),
        ((1.0, 0.1, 2.0, 0.2, 3.0, 0.7), None),
        ((1.0, None, 2.0, 0.7), None),
    ],
)
def test_the_probabilities_of_a_table_sum_to_one(parameters: tuple[float, ...], says: str | None) -> None:
    assert law_fault("table", parameters) == says


def program(arrive: str, init: str = "") -> str:
    return f"""fn main() {{
      stage desk : delay;
      workload {{ arrive {arrive}; init {{ set born = now; {init} }} }}
      server {{ run desk (cost(desk, 1)); observe at = born; }}
    }}"""


def refusal(source: str, **run: float) -> str:
    with pytest.raises(serq.ProgramError) as refused:
        serq.run(serq.compile(source=source), horizon=100, **run)
    return str(refused.value)


def test_computed_parameters_are_looked_at_when_they_are_drawn() -> None:
    said = refusal(program("batch(1)", "set p = 0.4 + serial; set x = ~table(1: p, 2: 0.5);"))
    assert "<program>:3:88: error[SQ0621]: `~table(1: 0.4, 2: 0.5)` has no law" in said
    assert "its probabilities sum to 0.9, and they have to sum to 1 (at time 0, session 0)" in said
    said = refusal(program("batch(1)", "set x = ~geometric(serial);"))
    assert "<program>:3:66: error[SQ0621]: `~geometric(0)` has no law" in said


@pytest.mark.parametrize(
    ("guard", "shown"),
    [
        ("with (3)", "branch with (3)"),
        ("with (serial + 3)", "branch with (3)"),
        ("(~bernoulli(3))", "~bernoulli(3)"),
        ("(~bernoulli(serial + 3))", "~bernoulli(3)"),
        ("with (max(0, ~bernoulli(serial + 3)))", "~bernoulli(3)"),
    ],
)
def test_a_probability_is_shown_as_it_is_written(guard: str, shown: str) -> None:
    source = program("batch(1)").replace("observe at", f"branch {guard} {{ observe x = 1; }} observe at")
    assert f"`{shown}` has no law: a probability is a number from 0 to 1" in refusal(source)
    with pytest.raises(serq.ProgramError) as refused:
        serq.run(serq.compile(source=source), horizon=100, plain=True)
    assert f"`{shown}` has no law" in str(refused.value)


@pytest.mark.parametrize("written", ["poisson(3)", "uniform(1, 2)", "bernoulli(serial / 2)"])
def test_a_law_without_its_sign_is_proposed_with_it(written: str) -> None:
    said = refusal(program("batch(1)", f"set x = {written};"))
    assert "error[SQ0202]" in said and f"help: a random value is written `~{written}`" in said
    said = refusal(program("batch(1)", "set x = table(1);"))
    assert "help: a random value is written `~table(v: p, …)`" in said


# ---------------------------------------------------------------- streams


def births(arrive: str, horizon: float, **run: float) -> np.ndarray:
    compiled = serq.compile(source=program(arrive))
    report = serq.run(compiled, horizon=horizon, **run)
    plain = serq.run(compiled, horizon=horizon, plain=True, **run)
    assert report.to_dict() == plain.to_dict()
    return report.observes["at"].samples


def test_slots_are_multiples_from_zero_on() -> None:
    assert births("slotted(0.1, 2)", 1.95).tolist() == [k * 0.1 for k in range(10) for _ in range(2)]
    at = births("slotted(10, ~poisson(2))", 20_001)
    assert (at % 10 == 0).all()
    counts = np.bincount((at / 10).astype(int), minlength=2000)
    assert abs(counts.mean() - 2) < STANDARD_ERRORS * math.sqrt(2 / counts.size)
    assert abs(counts.var() - 2) < 0.5


def test_the_last_slot_brings_only_what_was_asked_for() -> None:
    assert births("slotted(3, 4)", 100, arrivals=6).tolist() == [0, 0, 0, 0, 3, 3]


def test_a_slot_brings_a_whole_number() -> None:
    assert "SQ0625" in refusal(program("slotted(10, ~exp(2))"))
    assert "SQ0544" in refusal(program("slotted(10, 2.5)"))


def test_gamma_gaps_have_their_rate_and_variation() -> None:
    gaps = np.diff(births("gamma(0.5, 3)", 20_000))
    assert abs(gaps.mean() - 2) < STANDARD_ERRORS * 6 / math.sqrt(gaps.size)
    assert abs(gaps.std() / gaps.mean() - 3) < 0.4


def test_gamma_gaps_of_variation_one_are_exponential() -> None:
    gaps = np.diff(births("gamma(2, 1)", 5_000))
    for q in (0.1, 0.5, 0.9):
        below = (gaps <= -math.log(1 - q) / 2).mean()
        assert abs(below - q) <= STANDARD_ERRORS * math.sqrt(q * (1 - q) / gaps.size)


def test_rates_change_from_stage_to_stage() -> None:
    at = births("stages((2, 1000), (0, 500), (5, 1000))", 5_000)
    counts = [((at >= start) & (at < end)).sum() for start, end in [(0, 1000), (1000, 1500), (1500, 2500)]]
    assert counts[1] == 0 and sum(counts) == at.size
    for count, expected in [(counts[0], 2000), (counts[2], 5000)]:
        assert abs(count - expected) < STANDARD_ERRORS * math.sqrt(expected)


def test_a_stage_without_end_goes_on() -> None:
    at = births("stages((1, 10), (3, inf))", 1_000)
    assert abs((at > 10).sum() - 2970) < STANDARD_ERRORS * math.sqrt(2970)


def test_the_next_arrival_is_where_the_integral_of_the_rate_reaches_its_work() -> None:
    stages = [(2.0, 5.0), (0.0, 1.0), (4.0, 2.0)]
    assert next_in_stages(stages, 0.0, 4.0) == 2.0
    assert next_in_stages(stages, 2.0, 6.0) == 6.0
    assert next_in_stages(stages, 4.0, 4.0) == 6.5
    assert next_in_stages(stages, 7.0, 4.0) == math.inf
    assert next_in_stages(stages, 9.0, 0.1) == math.inf


# ---------------------------------------------------------------- samples of a file


def run_with(tmp_path: Path, content: str, count: int = 3000) -> np.ndarray:
    (tmp_path / "lengths.csv").write_text(content, encoding="utf-8")
    path = tmp_path / "program.sq"
    path.write_text(
        f"""fn main() {{
          stage desk : delay;
          workload {{ arrive batch({count}); init {{ set x = ~empirical("lengths.csv"); }} }}
          server {{ run desk (cost(desk, 1)); observe length = x; }}
        }}""",
        encoding="utf-8",
    )
    compiled = serq.compile(path)
    report = serq.run(compiled, horizon=10)
    assert serq.run(compiled, horizon=10, plain=True).to_dict() == report.to_dict()
    return report.observes["length"].samples


def test_samples_of_a_file_are_drawn_alike(tmp_path: Path) -> None:
    drawn = run_with(tmp_path, "prompt\n10\n\n20\n20\n1e3\n")
    assert set(drawn) == {10, 20, 1000}
    assert abs((drawn == 20).mean() - 0.5) < STANDARD_ERRORS * math.sqrt(0.25 / drawn.size)


@pytest.mark.parametrize("heading", ["prompt", '"tokens of 1"', "_n", "# of tokens", "Länge", "infinite"])
def test_a_heading_begins_as_a_name_does(tmp_path: Path, heading: str) -> None:
    assert set(run_with(tmp_path, f"{heading}\n5\n", 3)) == {5}


NO_HEADINGS = [
    "1e400", "nan", "NaN", "inf", "-Infinity", "1_000", "1 000", "12ms", "1,5", '"1,5"', '"nan"', "+", ".",
]  # fmt: skip
"""First lines that are numbers with a fault."""


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "SQ0628"),
        ("length\n", "SQ0628"),
        ("1\n2 tokens\n", "lengths.csv:2:1: error[SQ0627]: this line is `2 tokens`"),
        ("1\n\n   inf\n", "lengths.csv:3:4: error[SQ0627]"),
        *(
            (f"{line}\n2\n3\n", f"lengths.csv:1:1: error[SQ0627]: this line is `{line}`")
            for line in NO_HEADINGS
        ),
    ],
)
def test_a_file_that_is_no_list_of_numbers(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(serq.ProgramError) as refused:
        run_with(tmp_path, content, 1)
    assert says in str(refused.value)


def test_a_file_that_is_not_there() -> None:
    assert "SQ0626" in refusal(program("batch(1)", 'set x = ~empirical("nowhere.csv");'))
