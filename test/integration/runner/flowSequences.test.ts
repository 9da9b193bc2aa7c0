/** Loops, waits and resumed runs one after the other, with hostile names and at their limits. */
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { isAtMostOnce } from '../../../nodes/register.ts';
import type { Runner } from '../../../runner/runner.ts';
import { getRevision } from '../../../runs/revisions.ts';
import { planResume, readEnded } from '../../../runs/resume.ts';
import { signalRun } from '../../../runs/signals.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { putCallbackSettings } from '../../../store/callbacks.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';

const harness = await startRunnerHarness();
const { conn, project, mailbox, credentials } = harness;
const key = { id: 'k1', key: Buffer.alloc(32, 7) };
await putCallbackSettings(conn, project.uid, { url: 'https://hooks.example.com', key, keys: [key] });
let runner: Runner;

const start = () => (runner = startTestRunner(conn, project.uid, { credentials }));
beforeEach(() => {
  harness.reset();
  start();
});
afterEach(() => runner.stop(0));
afterAll(harness.close);

const trigger = { id: 'trigger', webhook: { path: 'orders' } };
const items = (extra: object = {}) => ({
  forEach: { items: "{{ $('trigger').data_content.items }}", ...extra },
});
const shape = (id: string, values: unknown, extra: object = {}) => ({
  id,
  skill: { name: 'set', parameters: { values } },
  ...extra,
});
const mail = (id: string, to: string, extra: object = {}) => ({
  id,
  skill: { name: 'send_email', credential: 'smtp', parameters: { to, subject: 'Order', body: 'Thanks' } },
  ...extra,
});
const nodeOf = (state: RunState, id: string): NodeState | undefined =>
  state.nodes.find((node) => node.id === id);

const send = async (nodes: object[], body: unknown) =>
  project.send(await project.deploy([trigger, ...nodes]), body);

/** Resumes the failed run, and waits for the end of the new one. */
async function resume(run: string): Promise<RunState> {
  const found = await readEnded(conn, project.uid, run);
  if (!found || 'outcome' in found) throw new Error('the run is gone');
  const { state, items: kept } = found;
  const revision = await getRevision(conn, project.uid, state.revision);
  if (!revision || 'outcome' in revision) throw new Error('the revision is gone');
  const { phase, origin, nodes, input } = state;
  const resumed = planResume({ run, phase, origin, nodes, items: kept }, revision, [], isAtMostOnce);
  if ('reason' in resumed) throw new Error(resumed.message);
  return project.ended(await project.send(state.revision, {}, { input, retryOf: run, resumed }));
}

test('nodes named like members of objects, with the longest names, three groups deep, take part as all others', async () => {
  const long = 'a'.repeat(63);
  const nodes = [
    { id: 'constructor', group: {}, ...items() },
    { id: 'hasOwnProperty', group: {}, within: 'constructor' },
    { id: long, group: {}, within: 'hasOwnProperty' },
    shape('toString', 'nodes.constructor.item.name', { within: long }),
    { id: 'valueOf', wait: { callback: {} }, within: long },
    shape(
      'prototype',
      { name: 'nodes.toString.data_content', said: 'nodes.valueOf.data_content', index: 'index' },
      {
        within: long,
      },
    ),
    shape('then', 'nodes.constructor.data_content', {
      repeat: { until: 'nodes.then.data_content != null', limit: 3 },
    }),
  ];
  const huge = { ['k'.repeat(100_000)]: 1, constructor: { name: 'x' }, name: 'ink' };
  const run = await send(nodes, { items: [huge, { name: 'pen' }] });
  for (const index of [0, 1]) {
    const key = `constructor.${index}.0.1/hasOwnProperty.0.0.1/${long}.0.0.1/valueOf`;
    await project.until(run, ({ phase }) => phase === 'Waiting');
    await signalRun(conn, project.uid, { run, node: key, value: JSON.stringify({ body: index }) });
  }
  const state = await project.ended(run);
  expect(state.phase).toBe('Succeeded');
  const results = [
    { name: 'ink', said: 0, index: 0 },
    { name: 'pen', said: 1, index: 1 },
  ];
  expect(nodeOf(state, 'constructor')?.output?.data_content).toEqual(results);
  expect(nodeOf(state, 'then')?.output?.data_content).toEqual(results);
});

test('a loop of 10,000 items whose results are too large executes none again when it is resumed', async () => {
  const nodes = [shape('many', { text: `'${'x'.repeat(60)}'`, index: 'index' }, items())];
  const run = await send(nodes, { items: Array.from({ length: 10_000 }, (_, index) => index) });
  const first = await project.ended(run);
  expect(nodeOf(first, 'many')).toMatchObject({ reason: 'OutputTooLarge', items: { succeeded: 10_000 } });
  const again = await resume(run);
  expect(nodeOf(again, 'many')).toMatchObject({ reason: 'OutputTooLarge', items: { succeeded: 10_000 } });
});

test('no mail of a loop is sent twice by a run that resumes a resumed run', async () => {
  const run = await send([mail('send', '{{ $item }}', items())], {
    items: ['a@example.com', 'no address', 'c@example.com'],
  });
  expect(await project.ended(run)).toMatchObject({ phase: 'Failed' });
  const second = await resume(run);
  const third = await resume(second.run);
  expect(third).toMatchObject({ phase: 'Failed', origin: run });
  expect(nodeOf(third, 'send')?.items).toMatchObject({ succeeded: 1, failed: 1 });
  expect(mailbox.messages.map(({ to }) => to)).toEqual([['a@example.com']]);
});

test('the timeout of a group passes while its run is parked and no runner lives', async () => {
  const nodes = [
    { id: 'all', group: {}, timeout: '3s', onError: 'Continue' },
    { id: 'pause', wait: { duration: '1h' }, within: 'all' },
    shape('after', 'nodes.all.error.reason'),
  ];
  const run = await send(nodes, {});
  const parked = await project.until(run, ({ phase }) => phase === 'Waiting');
  await runner.stop(0);
  const startedAt = nodeOf(parked, 'all')?.startedAt ?? 0;
  start();
  const state = await project.ended(run);
  expect(nodeOf(state, 'after')?.output?.data_content).toBe('Timeout');
  expect((nodeOf(state, 'all')?.endedAt ?? Infinity) - startedAt).toBeLessThan(5_500);
});
