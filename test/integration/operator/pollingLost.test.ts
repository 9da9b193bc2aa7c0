/** Polled triggers whose run store loses everything. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOperatorStage, type OperatorStage } from '../../support/operatorStage.ts';
import { pollUntil } from '../../support/poll.ts';
import { openPollProject } from '../../support/pollProject.ts';

const SOON = { timeoutMs: 20_000, everyMs: 25 };

let stage: OperatorStage;

beforeAll(async () => {
  stage = await startOperatorStage();
  stage.startOperator();
}, 600_000);
afterAll(() => stage?.stop());

test('a run store that loses everything goes on from the cursor of the status', async () => {
  const project = await openPollProject(stage);
  await project.apply();
  await pollUntil('the trigger', () => project.state(), SOON);
  await project.look();
  await pollUntil('the cursor', async () => (await project.workflow()).status?.poll?.cursor, SOON);
  await stage.redis.replace();
  await stage.conn.ready();
  await pollUntil('the trigger again', () => project.state().catch(() => undefined), {
    timeoutMs: 60_000,
    everyMs: 100,
  });
  // A pod that finds the project not open yet comes again.
  expect(await pollUntil('the next look', () => project.look(), SOON)).toEqual({ cursor: { uid: 7 } });
}, 90_000);
