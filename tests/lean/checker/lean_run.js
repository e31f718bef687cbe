// Start the Lean compiler (wasm) under Node. Called by lean_program.py:
//   node lean_run.js BIN_DIR LEAN_ARGS...
// BIN_DIR holds lean_slim.js (the patched loader) and lean.wasm. The folders
// Lean may see come in SERQ_LEAN_MOUNTS, a JSON list of [host, virtual] pairs.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [bin, ...args] = process.argv.slice(2);
const loader = path.join(bin, 'lean_slim.js');
const noise = /^\[DEBUG|^  - .*Init\/Data\/String\/Lemmas\/Basic|^  mainModule\?/;
const show = fd => line => { if (!noise.test(line)) fs.writeSync(fd, line + '\n'); };

console.log = (...a) => show(1)(a.join(' '));
globalThis.require = require;
globalThis.__filename = loader;
globalThis.__dirname = bin;
globalThis.module = undefined;
globalThis.Module = {
  thisProgram: '/lean/bin/lean',
  arguments: args,
  print: show(1),
  printErr: show(2),
  locateFile: name => path.join(bin, name),
};
process.on('unhandledRejection', e => {
  fs.writeSync(2, 'lean_run: ' + String(e && e.stack || e).slice(0, 2000) + '\n');
  process.exit(70);
});
vm.runInThisContext(fs.readFileSync(loader, 'utf8'), { filename: loader });
