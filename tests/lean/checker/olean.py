"""What a compiled Lean module depends on, read from the file that Lean writes."""

from __future__ import annotations

import re
import struct
from pathlib import Path

from lean_program import Failure

STANDARD = {"propext", "Classical.choice", "Quot.sound"}
# Axioms of Lean's library outside the standard three. Library theorems come
# without proofs in the wasm build, so these are found by name.
FORBIDDEN = {
    "sorryAx",
    "lcProof",
    "lcUnreachable",
    "lcAny",
    "Lean.ofReduceBool",
    "Lean.ofReduceNat",
    "Lean.trustCompiler",
}


class Olean:
    """The parts of one compiled module: constants, kinds, and what they use.

    An .olean file is a memory image of Lean objects: a header, then objects
    that point to each other by address. A file with a `module` header has
    three parts (.olean, .olean.server, .olean.private) that share objects;
    the last one holds the proofs.
    """

    KIND = ("axiom", "def", "theorem", "opaque", "quot", "inductive", "constructor", "recursor")

    def __init__(self, path):
        paths = [Path(f"{path}{s}") for s in ("", ".server", ".private")]
        self.parts = []
        for p in (p for p in paths if p.exists()):
            data = p.read_bytes()
            if data[:5] != b"olean" or data[5] != 2:
                raise Failure(f"{p}: unknown .olean format")
            self.parts.append(data)
        for self.word, self.fmt in ((8, "<Q"), (4, "<I")):
            self.bases = [(self.at(80, d), d) for d in self.parts]
            root = self.at(80 + self.word, self.parts[-1])
            if all(b % 4096 == 0 for b, _ in self.bases) and any(
                b <= root < b + len(d) for b, d in self.bases
            ):
                break
        else:
            raise Failure(f"{path}: unknown .olean layout")
        self.names = {0: "", 1: ""}
        try:
            self.constants = self.read(root)
        except (struct.error, ValueError, IndexError) as e:
            raise Failure(f"{path}: unknown .olean layout ({e})") from None

    def at(self, offset, data):
        return int.from_bytes(data[offset : offset + self.word], "little")

    def locate(self, addr):
        for base, data in self.bases:
            if base <= addr < base + len(data):
                return data, addr - base
        raise Failure("an .olean pointer leaves the file")

    def ctor(self, addr):
        """Tag and fields of a constructor object; a boxed tag has no fields."""
        if addr & 1:
            return addr >> 1, ()
        data, at = self.locate(addr)
        count, tag = data[at + 6], data[at + 7]
        return tag, struct.unpack_from(f"<{count}{self.fmt[1]}", data, at + 8)

    def array(self, addr):
        data, at = self.locate(addr)
        if data[at + 7] != 246:
            raise Failure("an .olean array was expected")
        size = struct.unpack_from(self.fmt, data, at + 8)[0]
        return struct.unpack_from(f"<{size}{self.fmt[1]}", data, at + 8 + 2 * self.word)

    def string(self, addr):
        data, at = self.locate(addr)
        size = struct.unpack_from(self.fmt, data, at + 8)[0]
        start = at + 8 + 3 * self.word
        return data[start : start + size - 1].decode("utf-8")

    def name(self, addr):
        if addr not in self.names:
            tag, (prefix, last) = self.ctor(addr)
            text = self.string(last) if tag == 1 else str(last >> 1)
            head = self.name(prefix)
            self.names[addr] = f"{head}.{text}" if head else text
        return self.names[addr]

    def uses(self, addr, into):
        """Add the constants that an expression names."""
        todo, seen = [addr], set()
        while todo:
            a = todo.pop()
            if a in seen:
                continue
            seen.add(a)
            tag, f = self.ctor(a)
            if tag == 4:  # const
                into.add(self.name(f[0]))
            elif tag == 5:  # app
                todo += f[:2]
            elif tag in (6, 7):  # lambda, forall
                todo += f[1:3]
            elif tag == 8:  # let
                todo += f[1:4]
            elif tag == 10:  # mdata
                todo.append(f[1])
            elif tag == 11:  # projection
                into.add(self.name(f[0]))
                todo.append(f[2])
            elif tag not in (0, 1, 2, 3, 9):
                raise Failure(f"unknown expression tag {tag} in an .olean file")

    def read(self, root):
        _, fields = self.ctor(root)
        names, infos = self.array(fields[1]), self.array(fields[2])
        if len(names) != len(infos):
            raise Failure("the .olean file does not list its constants as expected")
        out = {}
        for name, info in zip(names, infos, strict=True):
            kind, (val,) = self.ctor(info)
            _, f = self.ctor(val)
            _, head = self.ctor(f[0])
            if self.name(head[0]) != self.name(name):
                raise Failure("the .olean file does not name its constants as expected")
            uses = set()
            self.uses(head[2], uses)
            if self.KIND[kind] in ("def", "theorem", "opaque"):
                self.uses(f[1], uses)
            out[self.name(name)] = (self.KIND[kind], uses)
        return out


def plain(name):
    """A private name as its author wrote it."""
    return re.sub(r"^_private\..*?\.0\.", "", name)


def axioms_of(modules):
    """Per module: each constant's kind and the axioms it reaches through these modules."""
    table = {n: c for m in modules.values() for n, c in m.items()}
    memo = {}

    def reach(name):
        stack, seen, found = [name], {name}, set()
        while stack:
            n = stack.pop()
            if n in memo:
                found |= memo[n]
                continue
            if n in STANDARD or n in FORBIDDEN:
                found.add(n)
            if n in table:
                kind, uses = table[n]
                if kind == "axiom":
                    found.add(f"the file's own axiom {plain(n)}")
                stack += uses - seen
                seen |= uses
        memo[name] = found
        return found

    return {m: {n: (kind, reach(n)) for n, (kind, _) in cs.items()} for m, cs in modules.items()}
