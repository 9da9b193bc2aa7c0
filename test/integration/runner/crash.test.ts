import { afterAll, beforeEach, expect, test } from 'vitest';
import { claimRuns } from '../../../runs/claim.ts';
import { connectRunStore } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { takeOver } from '../../../runs/takeover.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { killRunner, spawnRunner } from '../../support/runner/runnerProcess.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';

const harness = await startRunnerHarness({ slowDelayMs: 40 });
const { redis, conn, project, model, mailbox, credentials, withSuccessor } = harness;

beforeEach(harness.reset);
afterAll(harness.close);

const trigger = { id: 'trigger', webhook: { path: 'orders' } };
const agent = {
  id: 'a',
  agent: { credential: 'llm', model: 'demo-slow', prompt: 'one two three four five six seven' },
};
const mail = (to: string) => ({
  id: 'mail',
  skill: {
    name: 'send_email',
    credential: 'smtp',
    parameters: { to, subject: 's', body: "{{ $('a').text_content }}" },
  },
});
const reply = { id: 'reply', response: { body: "{{ $('a').text_content }}" } };

const nodeOf = (state: RunState, id: string): NodeState | undefined =>
  state.nodes.find((node) => node.id === id);
const spawned = (runner: string) =>
  spawnRunner({ url: redis.url, project: project.uid, runner, credentials });

test('a runner killed in the middle of an answer is taken over from: the run succeeds, with one mail', async () => {
  const revision = await project.deploy([trigger, agent, mail('ada@example.com'), reply]);
  const child = await spawned('first-1');
  const run = await project.send(revision, {});
  await pollUntil('the question', () => model.requests.length === 1, { timeoutMs: 20_000, everyMs: 5 });
  await killRunner(child);
  const state = await withSuccessor('second-1', () => project.ended(run));
  expect(state).toMatchObject({
    phase: 'Succeeded',
    reply: { body: 'You said: one two three four five six seven' },
  });
  expect(nodeOf(state, 'a')).toMatchObject({ attempts: 1 });
  expect(model.requests).toHaveLength(2);
  expect(new Set(model.requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  expect(mailbox.messages).toHaveLength(1);
});

test('a runner killed while a mail is sent leaves the node Unknown: the mail is not sent again', async () => {
  const revision = await project.deploy([trigger, agent, mail('hang-after-data@example.com'), reply]);
  const child = await spawned('first-2');
  const run = await project.send(revision, {});
  await pollUntil('the mail', () => mailbox.messages.length === 1, { timeoutMs: 20_000, everyMs: 5 });
  await killRunner(child);
  const state = await withSuccessor('second-2', () => project.ended(run));
  expect(state).toMatchObject({
    phase: 'Failed',
    reason: 'EffectUnknown',
    message: expect.stringContaining('node mail'),
  });
  expect(nodeOf(state, 'a')).toMatchObject({ phase: 'Succeeded' });
  expect(nodeOf(state, 'mail')).toMatchObject({ phase: 'Unknown', attempts: 1 });
  expect(nodeOf(state, 'reply')).toMatchObject({ phase: 'Skipped' });
  expect(mailbox.messages).toHaveLength(1);
});

test('a run that two runners died with has the third one to itself', async () => {
  const revision = await project.deploy([trigger, agent]);
  const suspect = await project.send(revision, {});
  for (const _ of [1, 2]) {
    const claimed = await claimRuns(conn, { project: project.uid, runner: 'ghost', max: 1 });
    const [claim] = claimed.outcome === 'claimed' ? claimed.claims : [];
    const ghost = {
      project: project.uid,
      run: suspect,
      token: claim?.token ?? '',
      runner: 'ghost',
      heartbeat: '0',
    };
    expect(await takeOver(conn, ghost)).toBe('ready');
  }
  const others = await Promise.all([project.send(revision, {}), project.send(revision, {})]);
  const states = await withSuccessor('third-3', () =>
    Promise.all([suspect, ...others].map((run) => project.ended(run))),
  );
  const times = states.map((state) => nodeOf(state, 'a'));
  const [alone, ...beside] = times.map((node) => ({ from: node?.startedAt ?? 0, to: node?.endedAt ?? 0 }));
  expect(states.map(({ phase }) => phase)).toEqual(['Succeeded', 'Succeeded', 'Succeeded']);
  for (const other of beside) expect(other.from >= alone!.to || other.to <= alone!.from).toBe(true);
});

test('however soon a runner stops after it started, it leaves no claim behind', async () => {
  const revision = await project.deploy([trigger, { ...reply, response: { body: 'done' } }]);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const left: string[] = [];
  for (let turns = 0; turns < 60; turns += 2) {
    await project.send(revision, {});
    const own = connectRunStore({ url: redis.url, name: 'brief' });
    await own.ready();
    const brief = startTestRunner(own, project.uid, { runner: `brief-${turns}` });
    for (let count = 0; count < turns; count += 1) await turn();
    await brief.stop(0);
    const claims = (await conn.command('hvals', keysOf(project.uid).claims)) as string[];
    left.push(...claims.filter((token) => token.startsWith(`brief-${turns}/`)));
    await own.close();
  }
  expect(left).toEqual([]);
});
