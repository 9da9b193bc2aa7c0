/**
 * The thread of `nodes/code/sandbox.ts`. It has one VM at a time. A bundle contains no file to start a thread
 * from, so that this file is bundled as an entry of its own.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { SandboxModules } from './modules.ts';
import { CodeVm } from './vm.ts';
import { type CodeRequest } from '../contract/code.ts';

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
