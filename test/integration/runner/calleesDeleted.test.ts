/** A workflow that is deleted while runs of others call it, or wait for its runs. */
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { putCallee } from '../../../runs/callees.ts';
import { beginDeletion, deletePage, dropWorkflow } from '../../../runs/deletion.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { Runner } from '../../../runner/runner.ts';
import { keysOf } from '../../../store/keys.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';

const harness = await startRunnerHarness();
const { conn, project, credentials, model } = harness;
const keys = keysOf(project.uid);
let runner: Runner;

beforeEach(() => {
  harness.reset();
  runner = startTestRunner(conn, project.uid, { credentials });
});
afterEach(() => runner.stop(0));
afterAll(harness.close);

const webhook = { id: 'trigger', webhook: { path: 'orders' } };
const manual = { id: 'trigger', manual: {} };
const pause = { id: 'pause', wait: { duration: '1h' } };
const ask = { id: 'ask', agent: { credential: 'llm', model: 'demo', prompt: 'Hello' } };
const call = (name: string, extra: object = {}) => ({ id: 'call', workflow: { name }, ...extra });
const calling = ({ nodes }: RunState): NodeState | undefined => nodes.find(({ id }) => id === 'call');

/** Deletes the workflow and its runs, as the operator does; a runner ends those that it executes. */
async function remove(workflow: string): Promise<void> {
  const deleted = { workflowUid: workflow, name: workflow };
  expect(await beginDeletion(conn, project.uid, deleted)).toMatchObject({ outcome: 'done' });
  const isEmpty = async () => {
    const page = await deletePage(conn, project.uid, workflow, { skip: 0 });
    return page.outcome === 'done' && page.left === 0;
  };
  await pollUntil('no run being left', isEmpty, { timeoutMs: 20_000, everyMs: 20 });
  expect(await dropWorkflow(conn, project.uid, workflow)).toEqual({ outcome: 'done' });
}

/** A run that waits for its child run, and that child. */
async function waiting(callee: string, extra: object = {}): Promise<{ run: string; child: string }> {
  const run = await project.send(await project.deploy([webhook, call(callee, extra)]), {});
  const state = await project.until(run, ({ phase }) => phase === 'Waiting');
  return { run, child: calling(state)?.run ?? '' };
}

const deletedMessage = (child: string, callee: string) =>
  `run ${child} of workflow ${callee} was cancelled: Cancelled: The run was cancelled, because its workflow was deleted.`;

test('a child run that waits when its workflow is deleted fails the node of its parent', async () => {
  const callee = await project.deploy([manual, pause]);
  const { run, child } = await waiting(callee);
  await project.until(child, ({ phase }) => phase === 'Waiting');
  await remove(callee);
  expect(calling(await project.ended(run))).toMatchObject({
    phase: 'Failed',
    reason: 'ChildFailed',
    message: deletedMessage(child, callee),
  });
  expect(await conn.command('exists', keys.children(run), keys.signals(run))).toBe(0);
});

test('a child run that is executed when its workflow is deleted fails the node of its parent', async () => {
  model.setFault('hang');
  const callee = await project.deploy([manual, ask]);
  const { run, child } = await waiting(callee);
  await pollUntil('the model being asked', async () => model.requests.length > 0, {
    timeoutMs: 20_000,
    everyMs: 10,
  });
  await remove(callee);
  expect(calling(await project.ended(run))?.message).toBe(deletedMessage(child, callee));
});

test('a retry of the node finds no workflow, and says so', async () => {
  const callee = await project.deploy([manual, pause]);
  const retry = { limit: 3, backoff: { initial: '10ms' } };
  const { run } = await waiting(callee, { retry });
  await remove(callee);
  const node = calling(await project.ended(run));
  expect(node).toMatchObject({ reason: 'WorkflowMissing', attempts: 2 });
  expect(node?.message).toContain(`there is no valid workflow ${callee} in this namespace`);
});

test('onError: Continue lets the parent go on without the deleted workflow', async () => {
  const callee = await project.deploy([manual, pause]);
  const { run } = await waiting(callee, { onError: 'Continue' });
  await remove(callee);
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded' });
});

test('a workflow that is deleted before the call fails the node as one that never existed', async () => {
  const callee = await project.deploy([manual, pause]);
  const own = await project.deploy([webhook, call(callee)]);
  await remove(callee);
  expect(calling(await project.ended(await project.send(own, {})))).toMatchObject({
    reason: 'WorkflowMissing',
    message: expect.stringContaining(`there is no valid workflow ${callee} in this namespace`),
  });
});

test('a workflow whose deletion begins during the call is not called suspended', async () => {
  const callee = await project.deploy([manual, pause]);
  const own = await project.deploy([webhook, call(callee)]);
  await beginDeletion(conn, project.uid, { workflowUid: callee, name: callee });
  // As the runner has read it just before.
  await putCallee(conn, project.uid, { name: callee, workflowUid: callee, revision: callee });
  expect(calling(await project.ended(await project.send(own, {})))).toMatchObject({
    reason: 'WorkflowMissing',
    message: `workflow ${callee} was deleted: apply it again, or correct workflow.name`,
  });
});

test('a workflow that replaced the deleted one of its name is called', async () => {
  const callee = await project.deploy([manual, pause]);
  const next = await project.deploy([
    manual,
    { id: 'a', skill: { name: 'set', parameters: { values: '7' } } },
  ]);
  const own = await project.deploy([webhook, call(callee)]);
  await remove(callee);
  await putCallee(conn, project.uid, { name: callee, workflowUid: next, revision: next });
  const state = await project.ended(await project.send(own, {}));
  expect(calling(state)).toMatchObject({ phase: 'Succeeded', output: { data_content: 7 } });
});
