import { expect, test } from 'vitest';
import type { OpenProject } from '../store/allQuotas.ts';
import { createNotifier } from '../shared/notifier.ts';
import { followPollingRunners } from './pollingRunners.ts';

test.each<[sentence: string, readings: boolean[], known: boolean | undefined, told: number]>([
  ['is known to poll with the first lease', [true], true, 1],
  ['polls for as long as one reading alone finds no lease', [true, false, true], true, 1],
  ['is known not to poll after the second reading without a lease', [true, false, false], false, 2],
  ['is unknown after one reading without a lease', [false], undefined, 0],
  ['is known not to poll after two readings without a lease', [false, false, false], false, 1],
])('a runner %s', (_sentence, readings, known, told) => {
  const used = createNotifier<readonly OpenProject[]>();
  const polls = { polling: new Map<string, boolean>(), pollingChanged: createNotifier<string>() };
  const changes: string[] = [];
  polls.pollingChanged.onChange((namespace) => changes.push(namespace));
  followPollingRunners({ polls, storeChanges: { used } });
  for (const isPolling of readings)
    used.notify([{ uid: 'uid', namespace: 'shop', use: { isPolling } as OpenProject['use'] }]);
  expect(polls.polling.get('shop')).toBe(known);
  expect(changes).toHaveLength(told);
});
