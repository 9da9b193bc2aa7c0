/** Polled triggers whose run store loses everything. */
import { expect, test } from 'vitest';
import { events } from '../../../kube/resource.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { openPollProject, type PollProject } from '../../support/operator/pollProject.ts';
import { operatorOfFile } from '../../support/operator/runningOperator.ts';

const SOON = { timeoutMs: 20_000, everyMs: 25 };
/** The operator reads the run store each half minute. */
const TOLD = { timeoutMs: 90_000, everyMs: 500 };

const harness = operatorOfFile();

test('when a run store loses everything, a trigger goes on from the cursor of the status, and begins again where that has none', async () => {
  const small = await openPollProject(harness());
  const large = await openPollProject(harness());
  for (const project of [small, large]) {
    await project.apply();
    await pollUntil('the trigger', () => project.state(), SOON);
  }
  const shown = async (project: PollProject) => (await project.workflow()).status?.poll;
  await small.poll();
  await large.poll({ cursor: 'too large for the status'.repeat(200) });
  await pollUntil('the cursor', async () => (await shown(small))?.cursor, SOON);
  await pollUntil('the time of the poll', async () => (await shown(large))?.lastPollTime, SOON);
  expect(await shown(large)).not.toHaveProperty('cursor');
  await harness().redis.replace();
  await harness().conn.ready();
  expect(await nextPoll(small)).toEqual({ cursor: { uid: 7 } });
  expect(await nextPoll(large)).toEqual({ cursor: undefined });
  await pollUntil('the Event', async () => (await losses(large)).length > 0, TOLD);
  expect(await losses(large)).toEqual([
    'The run store has lost the cursor, which was too large for the status.',
  ]);
  expect(await losses(small)).toEqual([]);
}, 120_000);

/** From where the first poll goes on after the loss. */
async function nextPoll(project: PollProject): Promise<unknown> {
  const again = { timeoutMs: 60_000, everyMs: 100 };
  await pollUntil('the trigger again', () => project.state().catch(() => undefined), again);
  // A pod that finds the project not open yet comes again.
  return pollUntil('the next poll', () => project.poll(), SOON);
}

/** What Events say of cursors that were lost. */
async function losses({ namespace }: PollProject): Promise<(string | undefined)[]> {
  const { items } = await harness().client.list(events, { namespace });
  return items.filter(({ reason }) => reason === 'BaselineLost').map(({ note }) => note);
}
