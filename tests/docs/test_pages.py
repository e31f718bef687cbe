"""The pages as text: links, navigation, and what the code says of them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, GENERATED, PAGES

ROOT = DOCS.parent
PACKAGE = ROOT / "serq"

per_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))


def prose(page: Path) -> Iterator[str]:
    """The lines outside fences."""
    inside = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            yield line


def anchors(page: Path) -> set[str]:
    """What `#…` may name on a page: its headings as the site and the code hosts write them, or the
    names that they give themselves; and what an `:::` takes from the docstrings."""
    lines = list(prose(page))
    headings = [line.lstrip("#").strip() for line in lines if line.startswith("#")]
    named = {name[1] for heading in headings if (name := re.search(r"\{ #([\w-]+) \}$", heading))}
    taken = {line.removeprefix("::: ") for line in lines if line.startswith("::: ")}
    slugs = {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
    return slugs | named | taken


@per_page
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", "\n".join(prose(page))):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        assert other.exists(), f"{target}: no such page"
        assert not anchor or anchor in anchors(other), f"{target}: no such heading"


@per_page
def test_lines_are_short_and_clean(page: Path) -> None:
    for line in prose(page):
        assert len(line) <= 110 or line.startswith("|"), line
    assert not [line for line in page.read_text(encoding="utf-8").splitlines() if line != line.rstrip()]


@per_page
def test_a_page_speaks_of_the_project_alone(page: Path) -> None:
    assert not re.search(r"/tmp\b|/wor[k]/|\bTODO\b|\bFIXME\b|\bXXX\b", page.read_text(encoding="utf-8"))


def test_the_navigation_has_every_page_once() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"^ +- (\S+\.md)$", settings, re.MULTILINE)
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in {*PAGES, *GENERATED})


def test_sections_that_the_code_cites_exist() -> None:
    text = "\n".join(prose(DOCS / "semantics.md"))
    sections = {int(number) for number in re.findall(r"^## (\d+)\.", text, re.MULTILINE)}
    assert sections == set(range(1, len(sections) + 1))
    for file in PACKAGE.rglob("*.py"):
        for first, last in re.findall(
            r"semantics,?\s+sections?\s+(\d+)(?:\s+(?:and|to)\s+(\d+))?", file.read_text(encoding="utf-8")
        ):
            assert {int(n) for n in (first, last) if n} <= sections, f"{file} cites section {first} {last}"


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="mkdocs-material builds the site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "tutorial" / "1-queue" / "index.html").read_text(encoding="utf-8")
    assert re.search(r'<span class="k">stage</span>', page), "programs are not coloured"
