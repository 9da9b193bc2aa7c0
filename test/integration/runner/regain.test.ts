/** A runner that learns during an attempt that its claim is lost, or that another runner has it. */
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { claimRuns } from '../../../runs/claim.ts';
import { handBackAll } from '../../../runs/handback.ts';
import { readRun } from '../../../runs/read.ts';
import { callWorkflow, type Call } from '../../../runner/callWorkflow.ts';
import type { Runner } from '../../../runner/runner.ts';
import { listen } from '../../support/network/listen.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { copyProject } from '../../support/runStore/projectCopy.ts';
import { pollUntil } from '../../support/time/poll.ts';

const harness = await startRunnerHarness();
const { conn, project, model } = harness;

/** A model that always fails: the first request when it is told to, others at once. */
let requests = 0;
let failing = Promise.withResolvers<void>();
const broken = await listen((request, response) => {
  request.resume();
  requests += 1;
  const fail = () => void response.writeHead(500, { 'content-type': 'application/json' }).end('{}');
  if (requests === 1) void failing.promise.then(fail);
  else fail();
});
const credentials = {
  ...harness.credentials,
  broken: { spec: { openai: { baseURL: `${broken.url}/v1`, apiKeyRef: { name: 's', key: 'k' } } } },
};
let runner: Runner | undefined;

beforeEach(() => {
  harness.reset();
  requests = 0;
  failing = Promise.withResolvers();
});
afterEach(async () => {
  failing.resolve();
  await runner?.stop(0);
  runner = undefined;
});
afterAll(async () => {
  await broken.close();
  await harness.close();
});

const trigger = { id: 'trigger', webhook: { path: 'orders' } };
const agent = {
  id: 'a',
  agent: {
    credential: 'broken',
    model: 'demo',
    prompt: 'hi',
    fallback: [{ credential: 'llm', model: 'demo' }],
  },
};
const asked = (count: number) =>
  pollUntil('the request', () => requests === count, { timeoutMs: 20_000, everyMs: 5 });

test('a runner that pauses until another one has its run asks no further model', async () => {
  // It has no heartbeat.
  runner = startTestRunner(conn, project.uid, { credentials });
  const run = await project.send(await project.deploy([trigger, agent]), {});
  await asked(1);
  const ended = await harness.withSuccessor('takes-over', () => project.ended(run), credentials);
  expect(ended).toMatchObject({ phase: 'Succeeded', crashes: 1 });
  expect(model.requests).toHaveLength(1);
  failing.resolve();
  await runner.stop(0);
  expect({ broken: requests, asked: model.requests.length }).toEqual({ broken: 2, asked: 1 });
  expect(await readRun(conn, project.uid, run)).toEqual(ended);
});

test('a runner whose claim the run store has lost takes its run back before it asks the next model', async () => {
  const run = await project.send(await project.deploy([trigger, agent]), {});
  const putBack = await copyProject(conn, project.uid);
  // Without room for a second run it cannot claim this one again.
  runner = startTestRunner(conn, project.uid, { credentials, concurrency: 1 });
  await asked(1);
  await putBack();
  failing.resolve();
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded', crashes: 0 });
  expect({ broken: requests, asked: model.requests.length }).toEqual({ broken: 1, asked: 1 });
});

test('a child run whose parent lost its claim starts once the run was taken back, and not elsewhere', async () => {
  const step = { id: 'b', skill: { name: 'set', parameters: { values: '1' } } };
  const callee = await project.deploy([{ id: 'trigger', manual: {} }, step]);
  const own = await project.deploy([trigger, { id: 'call', workflow: { name: callee } }]);
  const run = await project.send(own, {});
  const claimed = await claimRuns(conn, { project: project.uid, runner: 'stale', max: 50 });
  const claim =
    claimed.outcome === 'claimed' ? claimed.claims.find(({ state }) => state.run === run) : undefined;
  if (!claim) throw new Error('the run was not claimed');
  let token = 'lost';
  const call: Omit<Call, 'regain'> = {
    parent: claim.state,
    ref: () => ({ project: project.uid, run, token }),
    node: 'call',
    step: { name: callee },
    fields: {},
    item: undefined,
    effectKey: `${project.uid}/${run}/call/1`,
    isInDoubt: false,
  };
  const deps = { conn, abandon: new AbortController().signal };
  const message = 'the run is no longer executed here';
  await expect(callWorkflow(deps, { ...call, regain: async () => false })).rejects.toMatchObject({
    reason: 'Cancelled',
    message,
  });
  const regain = async () => {
    token = claim.token;
    return true;
  };
  expect(await callWorkflow(deps, { ...call, regain })).toMatchObject({ isKnown: false });
  await handBackAll(conn, { project: project.uid, runner: 'stale' });
});
