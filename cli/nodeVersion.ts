/** The Node.js that `windlass` needs. Nothing is imported that an old one cannot load. */
import { EXIT } from './shared/exit.ts';

const LEAST_MAJOR = 24;

/** Whether this Node.js can load the program. If not, it says so, and the process ends with an exit code. */
export function hasUsableNode(): boolean {
  const [major = ''] = process.versions.node.split('.');
  if (Number(major) >= LEAST_MAJOR) return true;
  const needs = `windlass needs Node.js ${LEAST_MAJOR} or newer, and this is ${process.version}`;
  process.stderr.write(`error: ${needs}: install it, or put it into the path\n`);
  process.exitCode = EXIT.input;
  return false;
}
