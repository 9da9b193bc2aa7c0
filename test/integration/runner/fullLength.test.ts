/**
 * Runners as their program, and times as in production: one that was stopped, and one that is busy for long,
 * beside one that works.
 */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WorkflowRun } from '../../../api/kinds.ts';
import { isTerminal } from '../../../api/phase.ts';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import { pollUntil } from '../../support/time/poll.ts';
import type { RunnerProgram } from '../../support/runner/runnerProgram.ts';
import { startWholeSystem, type WholeSystem } from '../../support/system/wholeSystem.ts';

/**
 * A runner whose beat stands still for 20 s is dead to the others, who check every 2 s; at 60 s it ends
 * itself.
 */
const BUSY_MS = 45_000;
const blockable = fileURLToPath(new URL('../../support/process/blockable.ts', import.meta.url));

let system: WholeSystem;
let zombie: RunnerProgram;
let busy: RunnerProgram;
let working: RunnerProgram;
let ofZombie: string;
let ofBusy: string;
let busySince: number;

beforeAll(async () => {
  system = await startWholeSystem();
  await system.runner.stop('SIGKILL');
  const release = system.effects.hold();
  const nodeArgs = ['--import', blockable];
  busy = await system.startRunner({ name: 'busy', nodeArgs, env: { BLOCK_MS: String(BUSY_MS) } });
  ofBusy = await begun('of the busy one');
  process.kill(busy.pid, 'SIGUSR2');
  busySince = performance.now();
  zombie = await system.startRunner({ name: 'zombie' });
  ofZombie = await begun('of the zombie');
  process.kill(zombie.pid, 'SIGSTOP');
  release();
  working = await system.startRunner({ name: 'working' });
}, 600_000);
afterAll(() => system?.stop());

const effectsOf = (run: string) => system.effects.keys.filter((key) => key.includes(`/${run}/`)).length;

/** A run whose effect is under way, and that is recorded as running. */
async function begun(key: string): Promise<string> {
  const { run = '' } = await system.send('orders', key);
  await pollUntil('the effect', async () => effectsOf(run) === 1 && (await recordOf(run)), {
    timeoutMs: 40_000,
    everyMs: 10,
  });
  return run;
}

async function recordOf(run: string): Promise<WorkflowRun | undefined> {
  return system.harness.client.find(workflowRuns, { namespace: system.namespace, name: run });
}

function ended(run: string, timeoutMs: number): Promise<WorkflowRun> {
  const readEnd = async () => {
    const record = await recordOf(run);
    return isTerminal(record?.status?.phase) && record;
  };
  return pollUntil(`the end of ${run}`, readEnd, { timeoutMs, everyMs: 50 });
}

const keys = async () => system.harness.redisCommand('keys', `wl:{${system.uid}}:*`);

/**
 * What is left of a run that was recorded and released: its live events, the line about it, and whatever else
 * bears its name.
 */
async function remains(run: string): Promise<string[]> {
  const names = (await keys()).toSorted();
  const own = names.filter((name) => name.includes(run));
  const lines = names.filter((name) => name.includes(':lines:'));
  const commands = [...own.map((name) => ['dump', name]), ...lines.map((name) => ['hget', name, run])];
  const values = await Promise.all(commands.map((command) => system.harness.redisCommand(...command)));
  return [...own, ...values.map((value) => value.join())];
}

const fencedOf = async ({ url }: RunnerProgram): Promise<boolean> =>
  (await (await fetch(`${url}/metrics`)).text()).includes(
    'windlass_runs_total{conclusion="fenced",test="false"}',
  );

test('one that was stopped until another had finished its run writes nothing when it wakes', async () => {
  const record = await ended(ofZombie, 60_000);
  expect(record.status).toMatchObject({ phase: 'Succeeded' });
  expect(effectsOf(ofZombie)).toBe(2);
  const isGone = async () => !(await keys()).includes(`wl:{${system.uid}}:run:${ofZombie}`);
  await pollUntil('the run store letting the run go', isGone, { timeoutMs: 40_000 });
  const before = await remains(ofZombie);
  process.kill(zombie.pid, 'SIGCONT');
  await pollUntil('the zombie learning that its run is another’s', () => fencedOf(zombie), {
    timeoutMs: 40_000,
  });
  expect(await remains(ofZombie)).toEqual(before);
  expect((await recordOf(ofZombie))?.metadata.resourceVersion).toBe(record.metadata.resourceVersion);
  expect(effectsOf(ofZombie)).toBe(2);
}, 150_000);

test('one whose event loop stood still for 45 s keeps its run, and ends it', async () => {
  const { status } = await ended(ofBusy, BUSY_MS + 40_000);
  expect(performance.now() - busySince).toBeGreaterThan(BUSY_MS);
  expect(status).toMatchObject({ phase: 'Succeeded' });
  expect(effectsOf(ofBusy)).toBe(1);
  expect(busy.isRunning()).toBe(true);
  expect(working.log.filter((line) => line.includes(ofBusy))).toEqual([]);
}, 150_000);
