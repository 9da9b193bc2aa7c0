/** How many runs a runner claims: as many as it has slots, and no slot is taken by a run that is ending. */
import { afterAll, afterEach, expect, test } from 'vitest';
import type { Runner } from '../../../runner/runner.ts';
import type { RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';
import { openTestProject, startTestRunner } from '../../support/runner/runnerProject.ts';
import { pollUntil } from '../../support/time/poll.ts';

const harness = await startRunnerHarness();
const { conn, model, credentials } = harness;

const CONCURRENCY = 4;
const SOON = { timeoutMs: 20_000, everyMs: 5 };
let runner: Runner | undefined;

afterEach(async () => {
  harness.reset();
  await runner?.stop(0);
  runner = undefined;
});
afterAll(harness.close);

const trigger = { id: 'trigger', webhook: { path: 'orders' } };
const short = [trigger, { id: 'a', skill: { name: 'set', parameters: { values: '1' } } }];
const long = [trigger, { id: 'a', agent: { credential: 'llm', model: 'demo', prompt: 'hi' } }];

/** A project, and a connection for its runner on which ends of several runs wait until `letThrough`. */
async function openProject() {
  const project = await openTestProject(conn);
  const { claims } = keysOf(project.uid);
  const gate = Promise.withResolvers<void>();
  let passes = 0;
  const delayed: RunStoreConnection = {
    ...conn,
    script: async (script, names, args) => {
      if ('ends' in script.lists) await gate.promise;
      return conn.script(script, names, args);
    },
    // A pass of the claim loop begins with the claims that the runner may not know.
    command: (name, ...args) => {
      if (name === 'hgetall' && args[0] === claims) passes += 1;
      return conn.command(name, ...args);
    },
  };
  const own = { credentials, concurrency: CONCURRENCY, releaseOrphansEveryMs: 20 };
  return {
    ended: (run: string) => project.ended(run),
    start: () => (runner = startTestRunner(delayed, project.uid, own)),
    letThrough: gate.resolve,
    send: async (nodes: object[], count: number) => {
      const revision = await project.deploy(nodes);
      return Promise.all(Array.from({ length: count }, () => project.send(revision, {})));
    },
    /** Runs that the runner has claimed. */
    inFlight: async () => Number(await conn.command('hlen', claims)),
    /** Waits until the claim loop has decided again whether to claim. */
    decided: async () => {
      const before = passes;
      await pollUntil('passes of the claim loop', () => passes >= before + 3, SOON);
    },
  };
}

const questions = (count: number) =>
  pollUntil(`${count} questions`, () => model.requests.length === count, SOON);

test('a runner executes other runs while the run store ends those that it has executed, once over', async () => {
  const { ended, start, letThrough, send, inFlight, decided } = await openProject();
  const runs = await send(short, 6 * CONCURRENCY);
  start();
  await pollUntil('claims beyond the concurrency', async () => (await inFlight()) > CONCURRENCY, SOON);
  await decided();
  expect(await inFlight()).toBeLessThanOrEqual(2 * CONCURRENCY);
  letThrough();
  for (const run of runs) expect(await ended(run)).toMatchObject({ phase: 'Succeeded', crashes: 0 });
  // Ends that are stored free no slot any more.
  model.setFault('hang');
  await send(long, 3 * CONCURRENCY);
  await decided();
  expect(await inFlight()).toBe(CONCURRENCY);
});

test('a runner claims no more runs than it has free slots', async () => {
  model.setFault('hang');
  const { start, send, inFlight, decided } = await openProject();
  await send(long, CONCURRENCY - 1);
  start();
  await questions(CONCURRENCY - 1);
  await send(long, 3 * CONCURRENCY);
  await questions(CONCURRENCY);
  await decided();
  expect(await inFlight()).toBe(CONCURRENCY);
});
