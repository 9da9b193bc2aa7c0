/** Runners that are killed while they execute a loop: no item is lost, and none is executed twice. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { keysOf } from '../../../store/keys.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { killRunner, spawnRunner } from '../../support/runner/runnerProcess.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';

const harness = await startRunnerHarness();
const { redis, conn, project, mailbox, credentials, withSuccessor } = harness;

beforeEach(harness.reset);
afterAll(harness.close);

const MAILS = 200;
const KILLS = 5;
const trigger = { id: 'trigger', webhook: { path: 'orders' } };
const letter = (effect: string) => ({
  id: 'send',
  within: 'each',
  effect,
  skill: {
    name: 'send_email',
    credential: 'smtp',
    parameters: { to: '{{ $item }}', subject: 'News', body: 'Hello' },
  },
});
const each = (extra: object) => ({
  id: 'each',
  group: {},
  forEach: { items: "{{ $('trigger').data_content.items }}", ...extra },
});
const addresses = Array.from({ length: MAILS }, (_, index) => `n${index}@example.com`);
const mailsTo = () => Map.groupBy(mailbox.messages, ({ to }) => String(to));

/** How many items have ended, by what the run store holds of them. */
async function endedItems(run: string): Promise<number> {
  const items = (await conn.command('hgetall', keysOf(project.uid).items(run))) as Record<string, string>;
  return Object.keys(items).filter((key) => /^each\.\d+$/.test(key)).length;
}

test('a loop of 200 mails whose runner is killed again and again sends each, with one key per mail', async () => {
  const revision = await project.deploy([
    trigger,
    each({ maxParallel: 4, collect: 'None' }),
    letter('AtLeastOnce'),
  ]);
  const run = await project.send(revision, { items: addresses });
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = await endedItems(run);
    const child = await spawnRunner({
      url: redis.url,
      project: project.uid,
      runner: `killed-${kill}`,
      credentials,
    });
    const isFurther = async () => (await endedItems(run)) > before + 5;
    await pollUntil('further items to end', isFurther, { timeoutMs: 60_000, everyMs: 1 });
    await killRunner(child);
  }
  const state = await withSuccessor('last', () => project.ended(run, 60_000));
  expect(state.phase).toBe('Succeeded');
  expect(state.nodes.find(({ id }) => id === 'each')?.items).toMatchObject({
    total: MAILS,
    succeeded: MAILS,
    failed: 0,
  });
  const sent = mailsTo();
  expect([...sent.keys()].toSorted()).toEqual(addresses.toSorted());
  // A mail whose end was not stored is sent once more, under the same key.
  for (const mails of sent.values()) expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(1);
  expect(mailbox.messages.length).toBeLessThanOrEqual(MAILS + KILLS * 4);
}, 300_000);

test('a loop of mails that must not be repeated ends Unknown after a kill, and sends none twice', async () => {
  const revision = await project.deploy([trigger, each({ maxParallel: 4 }), letter('AtMostOnce')]);
  const run = await project.send(revision, { items: addresses });
  const child = await spawnRunner({ url: redis.url, project: project.uid, runner: 'once-1', credentials });
  await pollUntil('items to end', async () => (await endedItems(run)) > 20, {
    timeoutMs: 60_000,
    everyMs: 1,
  });
  await killRunner(child);
  const state = await withSuccessor('once-2', () => project.ended(run, 60_000));
  expect(state).toMatchObject({ phase: 'Failed', reason: 'EffectUnknown' });
  expect(state.nodes.find(({ id }) => id === 'each')).toMatchObject({
    phase: 'Unknown',
    message: expect.stringMatching(/^item \d+: /),
  });
  for (const mails of mailsTo().values()) expect(mails).toHaveLength(1);
  // Those in progress when the runner died are undecided, and no other item was started.
  const { succeeded = 0, failed = 0 } = state.nodes.find(({ id }) => id === 'each')?.items ?? {};
  expect(mailbox.messages.length).toBeLessThanOrEqual(succeeded + failed);
}, 120_000);
