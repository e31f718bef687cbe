// Added to the loader by lean_program.py. A Lean thread otherwise asks the main
// thread for each file operation and waits 1 ms for the answer: 6 s for the
// 5500 operations that import Init. Here a thread stats host files itself and
// reads compiled modules from memory. Any other operation returns undefined,
// and the loader goes on as before.
var direct = (() => {
  if (!ENVIRONMENT_IS_PTHREAD) return null;
  const fs = require('fs');
  const mounts = JSON.parse(process.env.SERQ_LEAN_MOUNTS);
  const module = /\.(olean|olean\.server|olean\.private|ir)$/;
  const open = new Map();
  let last = 1e6 * (1 + require('worker_threads').threadId);

  const host = ptr => {
    const path = SYSCALLS.getStr(ptr);
    if (path.includes('/../') || path.includes('/./')) return undefined;
    for (const [h, v] of mounts) if (path.startsWith(v + '/')) return h + path.slice(v.length);
  };
  const stat = (name, buf) => {
    try {
      return SYSCALLS.writeStat(buf, fs.statSync(name));
    } catch (e) {
      return { ENOENT: -44, ENOTDIR: -54 }[e.code];
    }
  };
  return {
    stat(path, buf) {
      const name = host(path);
      return name === undefined ? undefined : stat(name, buf);
    },
    open(path, flags) {
      const name = host(path);
      if (name === undefined || (flags & 3) || !module.test(name)) return undefined;
      try {
        open.set(++last, { name, data: fs.readFileSync(name), at: 0 });
        return last;
      } catch {
        return undefined;
      }
    },
    fstat(fd, buf) {
      const f = open.get(fd);
      return f && stat(f.name, buf);
    },
    read(fd, iov, count, out) {
      const f = open.get(fd);
      if (!f) return undefined;
      growMemViews();
      let sum = 0;
      for (let i = 0; i < count; i++) {
        const to = HEAPU32[(iov >> 2) + 2 * i];
        const part = f.data.subarray(f.at, f.at + HEAPU32[(iov >> 2) + 2 * i + 1]);
        HEAPU8.set(part, to);
        f.at += part.length;
        sum += part.length;
      }
      HEAPU32[out >> 2] = sum;
      return 0;
    },
    seek(fd, offset, whence, out) {
      const f = open.get(fd);
      if (!f) return undefined;
      const at = Number(offset) + [0, f.at, f.data.length][whence];
      if (at < 0) return 28;
      f.at = at;
      growMemViews();
      HEAP64[out >> 3] = BigInt(at);
      return 0;
    },
    close(fd) {
      return open.delete(fd) ? 0 : undefined;
    },
  };
})();
