#!/usr/bin/env node
/** Starts the program `windlass`, unless this Node.js is too old to load it. */
import { EXIT } from './shared/exit.ts';

const LEAST_MAJOR = 24;

const [major = ''] = process.versions.node.split('.');
if (Number(major) < LEAST_MAJOR) {
  const needs = `windlass needs Node.js ${LEAST_MAJOR} or newer, and this is ${process.version}`;
  process.stderr.write(`error: ${needs}: install it, or put it into the path\n`);
  process.exitCode = EXIT.input;
} else {
  // Half of the time of a command is that of compiling what it imports. An old Node.js lacks the function.
  const { enableCompileCache } = await import('node:module');
  enableCompileCache();
  await import('./main.ts');
}
