import { expect, test } from 'vitest';
import { newRunName } from '../../../runs/names.ts';
import { cutRun, runTitle, shortRun } from '../../../console/runs/shortRun.ts';

const WORKFLOW = 'order-confirmation';

test('of a name that Windlass made, the end is left, always as long', () => {
  const run = newRunName(WORKFLOW);
  expect(shortRun(run, WORKFLOW)).toBe(run.slice(-8));
  const long = 'w'.repeat(63);
  expect(shortRun(newRunName(long), long)).toHaveLength(8);
});

test.each([
  ['order-confirmation-by-hand', WORKFLOW, 'by-hand'],
  ['orders-eu-again', 'orders.eu', 'again'],
  ['asked-1', 'helpdesk', 'asked-1'],
  ['order-confirmation', WORKFLOW, 'order-confirmation'],
  ['order-confirmation-', WORKFLOW, 'order-confirmation-'],
])('%s of %s is %s', (run, workflow, short) => {
  expect(shortRun(run, workflow)).toBe(short);
});

test('a mark stands for the beginning that is left out', () => {
  expect(cutRun('order-confirmation-by-hand', WORKFLOW)).toBe('…by-hand');
  expect(cutRun('asked-1', 'helpdesk')).toBe('asked-1');
});

test('a run is called by its workflow and its time, which no line breaks', () => {
  expect(runTitle('Orders', undefined)).toBe('Orders');
  expect(runTitle('Orders', '2026-11-30T10:40:01Z')).toMatch(/^Orders ·\u00a0\d+\u00a0Nov,\u00a0[\d:]+$/);
});
