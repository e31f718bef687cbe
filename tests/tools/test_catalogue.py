"""Every code has an example that gets it, and the page of all codes shows what is printed now.

With SERQ_BLESS=1 and -m 'not long' the page is written again; look at the difference.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest

from serq.check import supported
from serq.codes import CODES, RANGES
from serq.codes.example import FOLDER, find_example, show_file
from serq.tools.catalogue import catalogue
from serq.tools.cli import run_command
from serq.tools.demonstration import Demonstration, demonstrate
from serq.tools.explaining import code_like, code_named, explain_code, list_codes
from tests.support.amounts import thinned

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"

example_of = cache(find_example)
per_code = pytest.mark.parametrize("code", thinned(CODES))
"""Their examples are run."""


@cache
def shown(code: str) -> Demonstration:
    return demonstrate(example_of(code))


@per_code
def test_an_example_gets_its_code_and_no_other(code: str) -> None:
    said = re.findall(r"SQ\d{4}", shown(code).text)
    assert said[:1] == [code]
    assert set(said) == {code}
    assert shown(code).status != 70
    assert (shown(code).status == 0) == (CODES[code].severity == "doubt")


@pytest.mark.parametrize("code", thinned(code for code in CODES if find_example(code).fixed))
def test_an_example_goes_well_when_it_is_mended(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # What a rule asks for is tested whether or not the machine runs it yet.
    monkeypatch.setattr(supported, "NOT_YET", {})
    now = demonstrate(example_of(code), mended=True)
    assert now.status == 0, now.text
    assert "SQ" not in now.text, now.text


@per_code
def test_a_message_names_a_cure_and_reads_well(code: str) -> None:
    text = shown(code).text
    assert CODES[code].why, "why is there such a rule?"
    assert "  help: " in text or "; " in text or code in {"SQ0147"}, "what can be done about it?"
    sentence = next(line for line in text.splitlines() if code in line)
    assert not re.search(r"\ba [aeio][a-z]|\ban [^aeioSRFM`h\W]", sentence), sentence
    assert not re.search(r"\b1 [a-z]+s\b(?<!is)(?<!lasts)(?<!has)", sentence), sentence
    assert "{" not in CODES[code].why.replace("`{`", "").replace("{ }", ""), "a reason is not filled in"


@pytest.mark.parametrize("code", CODES)
def test_a_reason_is_plain_markdown(code: str) -> None:
    """Signs that mean something in Markdown stand in backquotes only."""
    assert not re.search(r"[*<>_|\[\]]", re.sub(r"`[^`]+`", "", CODES[code].why))


def test_every_file_belongs_to_a_code_and_its_command() -> None:
    for path in FOLDER.iterdir():
        assert path.name[:6] in CODES, path.name
    for code in CODES:
        example = example_of(code)
        assert set(example.fixed) <= set(example.files), code
        assert example.command.startswith("serq "), code


@pytest.mark.slow
def test_the_page_is_what_is_printed_now(monkeypatch: pytest.MonkeyPatch) -> None:
    # Most examples have been run by the tests above.
    by_example = {id(example_of(code)): shown(code) for code in CODES}
    monkeypatch.setattr("serq.tools.catalogue.find_example", example_of)
    monkeypatch.setattr("serq.tools.catalogue.demonstrate", lambda example: by_example[id(example)])
    page = "".join(f"{line}\n" for line in catalogue())
    if os.environ.get("SERQ_BLESS"):
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page


@per_code
def test_the_page_shows_what_an_example_prints(code: str) -> None:
    assert f"\n$ {example_of(code).command}\n{shown(code).text.rstrip()}\n```\n" in PAGE.read_text(
        encoding="utf-8"
    )


def test_the_page_has_every_code() -> None:
    anchors = re.findall(r"^#+ .*\{ #(sq\d{4}) \}$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert anchors == [code.lower() for code in CODES]


# ---------------------------------------------------------------- serq explain


def explained(capsys: pytest.CaptureFixture[str], *codes: str) -> tuple[int, str, str]:
    status = run_command(["explain", *codes])
    return status, *capsys.readouterr()


def test_explain_shows_the_reason_the_example_and_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = explained(capsys, "SQ0532")
    assert (status, err) == (0, "")
    assert out.startswith("SQ0532: the gap between arrivals cannot be …\n\n")
    for part in (
        CODES["SQ0532"].why.split(". ")[0],
        "        arrive renewal(0);\n",
        "$ serq check example.sq\nexample.sq:5:12: error[SQ0532]: the gap between arrivals cannot be 0\n",
        "        arrive renewal(150);\n",
    ):
        assert part in out


def test_explain_shows_files_that_are_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert r"caf\xe9" in explained(capsys, "SQ0913")[1]
    assert "1 048 577 bytes" in explained(capsys, "SQ0107")[1]
    assert show_file(b"") == ""


@pytest.mark.parametrize("word", ["SQ0201", "sq0201", "201", "0201", "SQ201", " SQ0201 "])
def test_a_code_may_be_written_short(word: str) -> None:
    assert code_named(word) == "SQ0201"


@pytest.mark.parametrize("word", ["", "SQ", "SQ9999", "SQ00201", "gap", "-1", "SQ0201x", "²01"])
def test_what_is_no_code(word: str) -> None:
    assert code_named(word) is None


def test_a_misspelt_code_is_answered_by_the_one_that_is_close(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_like("s0532") == "SQ0532"
    status, out, err = explained(capsys, "S0532")
    assert (status, out) == (2, "")
    assert "no message has the code `S0532`; did you mean SQ0532?" in err
    status, _, err = explained(capsys, "nonsense")
    assert status == 2
    assert "`serq explain` lists the codes" in err


def test_explain_alone_lists_all_codes(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = explained(capsys)
    assert status == 0
    assert out == list_codes() + "\n"
    assert re.findall(r"^  (SQ\d{4})  \S", out, re.MULTILINE) == list(CODES)
    assert re.findall(r"^(SQ\d\d)xx: ", out, re.MULTILINE) == list(RANGES)


def test_several_codes_are_explained_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = explained(capsys, "SQ0910", "0922")
    assert out == f"{explain_code('SQ0910')}\n\n\n{explain_code('SQ0922')}\n"
