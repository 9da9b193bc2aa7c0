/** The process of `codeMemory.ts`: prints by how many MiB it grew. */
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createSandbox } from '../../nodes/code/sandbox.ts';

const MIB = 2 ** 20;
const IDLE_MS = 500;
const SETTLE_MS = 3_000;
/** V8 frees the machine code of modules with a later collection than the modules. */
const COLLECTIONS = 4;

const { gc = () => undefined } = globalThis;

/** A runner has one thread already, for its heartbeat. */
const other = new Worker("require('node:worker_threads').parentPort.on('message', () => {})", { eval: true });
await delay(SETTLE_MS);
gc();
const before = process.memoryUsage().rss;
const sandbox = createSandbox({ idleMs: IDLE_MS });
const never = new AbortController().signal;
const request = { nodes: [], values: [], clockMs: 0, seed: '', timeoutMs: 60_000, memoryMiB: 64 };
const source = 'return { at: new Date(), random: Math.random() };';
for (let round = 0; round < 50; round += 1)
  await Promise.all([1, 2].map(() => sandbox.execute({ source, ...request }, never)));
for (let collection = 0; collection < COLLECTIONS; collection += 1) {
  await delay(SETTLE_MS);
  gc();
}
console.log((process.memoryUsage().rss - before) / MIB);
await Promise.all([sandbox.close(), other.terminate()]);
