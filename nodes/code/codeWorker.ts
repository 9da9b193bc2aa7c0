/**
 * The thread of `nodes/code/sandbox.ts`. It has one VM at a time. A bundle contains no file to start a thread
 * from, so that this file is bundled as an entry of its own.
 */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { SandboxModules } from './modules.ts';
import { CodeVm } from './vm.ts';
import { type CodeRequest } from '../contract/code.ts';

/** How far below the runner the thread is in priority (setpriority(2)): code must not delay other runs. */
const NICENESS = 10;

/** Lowers the priority of this thread alone. Linux names it; elsewhere it keeps its priority. */
function lowerPriority(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS);
  } catch {
    // The limits of the sandbox hold without it.
  }
}

lowerPriority();

const modules = workerData as SandboxModules;
let vm = await CodeVm.create(modules);

parentPort?.on('message', (request: CodeRequest) => {
  const outcome = vm.run(request);
  parentPort?.postMessage(outcome, []);
  if (vm.isSpent) void renew();
});
parentPort?.postMessage('ready', []);

/** Requests wait meanwhile: the thread reads no message before the promise is settled. */
async function renew(): Promise<void> {
  parentPort?.postMessage('busy', []);
  vm = await CodeVm.create(modules);
  parentPort?.postMessage('ready', []);
}
