/** What callers were told of an event: one run for each dedupe key, as long as the key exists. */
import { expect, test } from 'vitest';
import { createLedger } from '../../model/ledger.ts';

const newLedger = () => createLedger(() => ({ objects: new Map() }) as never);

test('of an event that two answers give to two runs the ledger complains', () => {
  const ledger = newLedger();
  expect(ledger.asked('a 1')('first')).toEqual([]);
  expect(ledger.asked('a 1')('first')).toEqual([]);
  expect(ledger.asked('a 1')('second')).toEqual(['the event a 1 is first and second']);
});

test('when the key is gone the event is another run, also where an answer about the first one comes late', () => {
  const ledger = newLedger();
  ledger.asked('a 1')('first');
  const late = ledger.asked('a 1');
  ledger.forget(['first']);
  expect(late('first')).toEqual([]);
  expect(ledger.asked('a 1')('second')).toEqual([]);
  expect(ledger.asked('a 1')('third')).toEqual(['the event a 1 is second and third']);
});

test('when a restore brings the key back the event is the first run again', () => {
  const ledger = newLedger();
  ledger.asked('a 1')('first');
  ledger.forget(['first']);
  const [before, after] = [{ runs: {} }, { runs: {} }];
  const call = { name: 'restore', args: { run_id: 'first', epoch: '1' } };
  expect(ledger.judge({ before, after, call, answer: 'restored' } as never)).toEqual([]);
  ledger.asked('a 1')('first');
  expect(ledger.asked('a 1')('second')).toEqual(['the event a 1 is first and second']);
});
