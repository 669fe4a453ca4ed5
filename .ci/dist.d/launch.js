#!/usr/bin/env node
// Runs the binary of the package for this platform.
'use strict';
const { spawnSync } = require('node:child_process');

const name = `placet-${process.platform}-${process.arch}`;
let binary;
try {
  binary = require.resolve(`${name}/bin/placet`);
} catch {
  console.error(`placet: there is no package ${name}, or it was not installed (npm install --include=optional)`);
  process.exit(1);
}
// Newer versions of node can become the program: then signals and the terminal are the program's own.
if (process.execve) process.execve(binary, ['placet', ...process.argv.slice(2)], process.env);
for (const signal of ['SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGTERM']) process.on(signal, () => {});
const ended = spawnSync(binary, process.argv.slice(2), { stdio: 'inherit' });
if (ended.error) {
  console.error(`placet: ${binary}: ${ended.error.message}`);
  process.exit(1);
}
// As shells report a program that a signal ended.
process.exit(ended.status ?? 128 + (require('node:os').constants.signals[ended.signal] ?? 0));
