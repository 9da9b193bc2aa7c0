import { expect, test } from 'vitest';
import { createManualClock } from '../../test/support/time/manualClock.ts';
import { createAudit } from './audit.ts';
import type { AuditEntry } from './line.ts';

function start() {
  const lines: Record<string, unknown>[] = [];
  const clock = createManualClock();
  const audit = createAudit({
    source: { program: 'gateway', pod: 'gateway-0' },
    write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
    refusedPerSecond: 2,
    usesPerSecond: 4,
    clock,
  });
  const record = (entry: AuditEntry, times: number) => {
    for (let count = 0; count < times; count += 1) audit.record(entry);
  };
  return { audit, clock, lines, record };
}

const ALLOWED: AuditEntry = { event: 'run.execute', result: 'allowed' };
const DENIED: AuditEntry = { event: 'run.execute', result: 'denied', reason: 'forbidden' };
const FAILED: AuditEntry = { event: 'run.cancel', result: 'failed', reason: 'run-unavailable' };
const USED: AuditEntry = { event: 'credential.use', result: 'allowed' };

test('what is allowed is always recorded, also in a flood of refused calls', () => {
  const { lines, record } = start();
  record(DENIED, 1_000);
  record(ALLOWED, 1_000);
  expect(lines.filter(({ result }) => result === 'allowed')).toHaveLength(1_000);
});

test.each([
  ['refused calls', DENIED, 10, 'refused'],
  ['failed calls', FAILED, 10, 'refused'],
  ['uses of credentials', USED, 20, 'uses'],
])(
  '%s are recorded at a bounded rate, and what is left out is counted',
  async (_what, entry, burst, reason) => {
    const { lines, clock, record } = start();
    record(entry, 500);
    expect(lines).toHaveLength(burst);
    await clock.advance(10_000);
    expect(lines.slice(burst)).toMatchObject([{ event: 'audit.leftOut', reason, count: 500 - burst }]);
    // The rate has come back, and nothing is left to tell.
    record(entry, 1);
    await clock.advance(60_000);
    expect(lines).toHaveLength(burst + 2);
    expect(clock.timers()).toBe(0);
  },
);

test('close writes the count at once and leaves no timer', () => {
  const { audit, clock, lines, record } = start();
  record(DENIED, 11);
  audit.close();
  expect(lines.at(-1)).toMatchObject({ event: 'audit.leftOut', count: 1 });
  expect(clock.timers()).toBe(0);
});
