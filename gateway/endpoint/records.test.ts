import { expect, test } from 'vitest';
import { createManualClock } from '../../test/support/time/manualClock.ts';
import { createRecordLists } from './records.ts';

function setUp() {
  const asked: string[] = [];
  const raw = async (_method: string, path: string) => {
    asked.push(path);
    return { metadata: {}, columnDefinitions: [], rows: [] };
  };
  const clock = createManualClock();
  const lists = createRecordLists({ raw }, clock);
  /** Asks about so many workflows of the namespace; how many of them were refused. */
  const ask = async (namespace: string, workflows: number): Promise<number> => {
    const answers = Array.from({ length: workflows }, (_, index) => lists.of(namespace, `workflow-${index}`));
    const settled = Promise.allSettled(answers);
    await clock.advance(0);
    return (await settled).filter(({ status }) => status === 'rejected').length;
  };
  return { asked, clock, ask };
}

test('requests for different workflows of a namespace cause a bounded number of lists', async () => {
  const { asked, clock, ask } = setUp();
  expect(await ask('flood', 1_000)).toBe(900);
  expect(await ask('shop', 10)).toBe(0);
  expect(asked).toHaveLength(110);
  await clock.advance(1_000);
  expect(await ask('flood', 1_000)).toBe(950);
});

test('concurrent requests for one workflow share a list', async () => {
  const { asked, clock, ask } = setUp();
  await ask('shop', 1);
  for (let at = 0; at < 5; at += 1) void ask('shop', 1);
  await clock.advance(100);
  expect(asked).toHaveLength(2);
});
