"""The page of all codes, `python -m serq.tools.catalogue > docs/errors.md`: from the register and its
examples, with what their commands really print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from serq.codes import CODES, RANGES
from serq.codes.example import find_example, show_file
from serq.tools.demonstration import demonstrate
from serq.tools.explaining import show_title

_TOP = """\
<!-- Written by `python -m serq.tools.catalogue`; the words stand in serq/codes, the examples beside them. -->

# Errors

Every message has a code, which keeps its meaning in all versions. A message says what is wrong, where,
and one way out; here is also why the rule exists, a small example of the fault with what serq prints,
and where it can be shown, the same example when it is mended. The command line has the same under
`serq explain CODE`.

An `error` refuses the program or ends its run, a `doubt` is a remark. [Reports and
settings](report.md#messages-as-json) has the form for editors and scripts."""


def catalogue() -> Iterator[str]:
    """The lines of the page; runs all examples."""
    yield _TOP
    yield ""
    yield "| codes | |"
    yield "|---|---|"
    for start, about in RANGES.items():
        yield f"| [{start}xx](#{start.lower()}xx) | {about} |"
    for start, about in RANGES.items():
        yield f"\n## {start}xx: {about} {{ #{start.lower()}xx }}"
        for code in CODES:
            if code.startswith(start):
                yield from _section(code)


def _section(code: str) -> Iterator[str]:
    entry, example = CODES[code], find_example(code)
    yield f"\n### {code}: {show_title(code)} {{ #{code.lower()} }}"
    if entry.why:
        yield f"\n{entry.why}"
    yield from _files(example.files)
    yield "\n```console"
    yield f"$ {example.command}"
    yield demonstrate(example).text.rstrip()
    yield "```"
    if example.fixed:
        yield "\nMended:"
        yield from _files(example.fixed)


def _files(files: Mapping[str, bytes]) -> Iterator[str]:
    for name, content in files.items():
        yield f'\n```{_LANGUAGES.get(name.rpartition(".")[2], "text")} title="{name}"'
        if text := show_file(content).rstrip("\n"):
            yield text
        yield "```"


_LANGUAGES = {"sq": "serq", "json": "json", "csv": "csv"}


if __name__ == "__main__":
    for line in catalogue():
        print(line)
