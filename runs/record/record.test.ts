import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseExact } from '../../api/exact/exactNumber.ts';
import { runSpec, runStatus } from '../../api/run.ts';
import type { NodeOutput } from '../../api/value.ts';
import type { NodeState } from '../types/node.ts';
import type { RunState, RunUsage } from '../types/run.ts';
import { durationText, outputBytes, RECORD_LIMITS, storedBytes, toRecord, toSummary } from './record.ts';

const accepted = Date.parse('2026-01-02T03:04:05.000Z');
const base: RunState = {
  run: 'orders-1',
  project: 'project',
  workflow: 'orders',
  workflowUid: 'uid',
  group: 'uid',
  revision: 'orders-abc',
  trigger: 'webhook',
  test: false,
  phase: 'Succeeded',
  epoch: 7,
  sequence: 3,
  acceptedAt: accepted,
  startedAt: accepted + 500,
  endedAt: accepted + 1_700,
  cancelRequested: false,
  crashes: 0,
  input: '{"text_content":"","data_content":{"a":1},"headers":{"x-secret":"s"}}',
  nodes: [],
};
const node = (changes: Partial<NodeState> = {}): NodeState => ({
  id: 'a',
  phase: 'Succeeded',
  attempts: 1,
  startedAt: accepted,
  endedAt: accepted + 10,
  ...changes,
});
const withText = (id: string, length: number) =>
  node({ id, output: { text_content: 'x'.repeat(length), data_content: null } });

test('a run that succeeded is recorded with its times, its duration and its condition', () => {
  const { spec, status } = toRecord({
    ...base,
    nodes: [node({ usage: { inputTokens: 3, outputTokens: 5 } })],
  });
  expect(spec).toEqual({
    workflow: 'orders',
    revision: 'orders-abc',
    trigger: { type: 'webhook' },
    input: { text_content: '', data_content: { a: 1 } },
  });
  expect(status).toEqual({
    phase: 'Succeeded',
    epoch: 7,
    sequence: 3,
    trigger: 'webhook',
    acceptedTime: '2026-01-02T03:04:05.000Z',
    startTime: '2026-01-02T03:04:05.500Z',
    completionTime: '2026-01-02T03:04:06.700Z',
    duration: '1.2s',
    revision: 'orders-abc',
    conditions: [
      {
        type: 'Succeeded',
        status: 'True',
        reason: 'Succeeded',
        message: 'The run succeeded.',
        lastTransitionTime: '2026-01-02T03:04:06.700Z',
      },
    ],
    nodes: [
      {
        id: 'a',
        phase: 'Succeeded',
        attempts: 1,
        startTime: '2026-01-02T03:04:05.000Z',
        completionTime: '2026-01-02T03:04:05.010Z',
        usage: { inputTokens: 3, outputTokens: 5 },
      },
    ],
  });
});

test('the usage of a run is recorded with its cost as a text, and with what is estimated', () => {
  const usageIn = (usage: RunUsage) => toRecord({ ...base, usage }).status.usage;
  expect(usageIn({ tokens: 8, estimated: 0, cost: 0, currency: 'USD' })).toEqual({ tokens: 8 });
  expect(usageIn({ tokens: 8, estimated: 3, cost: 1_500_000, currency: 'EUR' })).toEqual({
    tokens: 8,
    estimatedTokens: 3,
    cost: '0.0015',
    currency: 'EUR',
  });
});

test('a failed run says why, and what is too long for the record is cut', () => {
  const long = { ...base, phase: 'Failed', reason: 'Timeout', message: 'ü'.repeat(9_000) } as const;
  const { status } = toRecord(long);
  expect(status).toMatchObject({ phase: 'Failed', reason: 'Timeout' });
  expect(status.message).toHaveLength(4_096);
  expect(status.conditions?.[0]).toMatchObject({ status: 'False', reason: 'Timeout' });
});

test('a run that has not ended has no end, and its condition is unknown', () => {
  const { endedAt: _end, ...running } = base;
  const { status } = toRecord({ ...running, phase: 'Running' });
  expect(status.completionTime).toBeUndefined();
  expect(status.duration).toBeUndefined();
  expect(status.conditions?.[0]).toMatchObject({ status: 'Unknown', reason: 'Running' });
});

test('a run in doubt is recorded so', () => {
  expect(toRecord({ ...base, doubt: true }).status.inDoubt).toBe(true);
  expect(toRecord(base).status).not.toHaveProperty('inDoubt');
});

test('nodes stand in the order of the revision', () => {
  const nodes = ['c', 'a', 'b'].map((id) => node({ id }));
  const { status } = toRecord({ ...base, nodes }, undefined, ['b', 'c', 'a']);
  expect(status.nodes?.map(({ id }) => id)).toEqual(['b', 'c', 'a']);
});

test('a node that had not ended when its run did may have had its effect where that is not repeated', () => {
  const open = { phase: 'Running', attempts: 1 } as const;
  const nodes = [
    node({ ...open, id: 'mail', mark: { attempt: 1, atMostOnce: true } }),
    node({ ...open, id: 'call', mark: { attempt: 1, atMostOnce: false } }),
  ];
  const stopped = toRecord({ ...base, phase: 'Cancelled', nodes }).status;
  expect(stopped.nodes?.map(({ completionTime }) => completionTime)).toEqual([
    stopped.completionTime,
    stopped.completionTime,
  ]);
  const phases = (phase: 'Failed' | 'Cancelled') =>
    toRecord({ ...base, phase, nodes }).status.nodes?.map((it) => [it.phase, it.reason]);
  expect(phases('Failed')).toEqual([
    ['Unknown', 'EffectUnknown'],
    ['Failed', undefined],
  ]);
  expect(phases('Cancelled')?.[1]).toEqual(['Cancelled', undefined]);
});

test('an output beyond 64 KiB is cut and marked; data that fits is kept whole', () => {
  const data = { rows: [1, null, 'x'] };
  const nodes = [
    node({ id: 'text', output: { text_content: 'ü'.repeat(100_000), data_content: data } }),
    node({ id: 'data', output: { text_content: 'short', data_content: 'y'.repeat(100_000) } }),
    node({ id: 'fits', output: { text_content: 'short', data_content: data } }),
  ];
  const [text, dropped, fits] = toRecord({ ...base, nodes }).status.nodes ?? [];
  expect(text).toMatchObject({ truncated: true, output: { data_content: data } });
  expect(Buffer.byteLength(text?.output?.text_content ?? '')).toBeGreaterThan(55_000);
  expect(dropped).toMatchObject({ truncated: true, output: { text_content: 'short', data_content: null } });
  expect(fits).toMatchObject({ output: { text_content: 'short', data_content: data } });
  expect(fits?.truncated).toBeUndefined();
});

test('all outputs together take at most 512 KiB', () => {
  const nodes = Array.from({ length: 20 }, (_, index) => withText(`n${index}`, 60_000));
  const listed = toRecord({ ...base, nodes }).status.nodes ?? [];
  const bytes = listed.reduce(
    (sum, { output }) => sum + JSON.stringify(output?.text_content ?? '').length,
    0,
  );
  expect(bytes).toBeLessThanOrEqual(524_288);
  expect(listed.slice(0, 8).every(({ truncated }) => truncated === undefined)).toBe(true);
  expect(listed.slice(9).every(({ truncated }) => truncated)).toBe(true);
});

test('an input beyond 64 KiB is cut and marked', () => {
  const long = (length: number) => JSON.stringify({ text_content: 'x'.repeat(length), data_content: null });
  expect(toRecord({ ...base, input: long(70_000) }).spec).toMatchObject({ inputTruncated: true });
  expect(toRecord({ ...base, input: long(60_000) }).spec.inputTruncated).toBeUndefined();
});

test.each([
  ['text that the API server escapes', '<&>'],
  ['line ends', '\u2028'],
  ['control characters', '\b\f\u0001'],
  ['text of many bytes', '€'],
])('a record of 100 nodes with long outputs and messages of %s is below 1 MiB', (_what, piece) => {
  const text = piece.repeat(100_000);
  const failures = Array.from({ length: 10 }, (_, index) => ({ index, reason: text, message: text }));
  const items = {
    total: 10_000,
    succeeded: 0,
    failed: 10_000,
    running: 0,
    failures,
    ended: '/'.repeat(1_668),
  };
  const nodes = Array.from({ length: 100 }, (_, index) =>
    node({
      id: `node_${index}`,
      phase: 'Failed',
      reason: text,
      message: text,
      items,
      output: { text_content: text, data_content: text.slice(0, 3_000) },
    }),
  );
  const input = JSON.stringify({ text_content: text, data_content: null });
  const state = { ...base, dedupeKey: text.slice(0, 1_024), reason: text, message: text, input, nodes };
  expect(storedBytes(toRecord(state))).toBeLessThan(1_000_000);
});

test('whatever a run holds, its record is one that the API server takes, and within its bounds', () => {
  const text = fc.string({ unit: 'binary', maxLength: 400 });
  const states = fc.record({
    phase: fc.constantFrom('Running', 'Succeeded', 'Failed', 'Cancelled'),
    message: text,
    nodes: fc.array(
      fc.record({
        id: fc.constantFrom('a', 'b', 'c'),
        phase: fc.constantFrom('Running', 'Succeeded', 'Skipped', 'Unknown'),
        attempts: fc.nat(5),
        output: fc.record({ text_content: text, data_content: fc.jsonValue() }),
      }),
      { maxLength: 5 },
    ),
  });
  fc.assert(
    fc.property(states, (changes) => {
      const state = { ...base, ...changes } as RunState;
      const { spec, status } = toRecord(state, { ...RECORD_LIMITS, maxOutputBytes: 300, maxTotalBytes: 900 });
      expect(runSpec.safeParse(spec).error).toBeUndefined();
      expect(runStatus.safeParse(JSON.parse(JSON.stringify(status))).error).toBeUndefined();
      for (const { output, truncated } of status.nodes ?? []) {
        const size =
          Buffer.byteLength(JSON.stringify(output?.text_content)) +
          Buffer.byteLength(JSON.stringify(output?.data_content));
        expect(size).toBeLessThanOrEqual(truncated ? 310 : 300);
      }
    }),
  );
});

test('a line holds what a list shows', () => {
  expect(toSummary({ ...base, reason: 'r', message: 'm'.repeat(5_000) })).toEqual({
    run: 'orders-1',
    workflow: 'orders',
    phase: 'Succeeded',
    trigger: 'webhook',
    test: false,
    acceptedAt: accepted,
    startedAt: accepted + 500,
    endedAt: accepted + 1_700,
    reason: 'r',
    message: 'm'.repeat(300),
  });
  expect(() => toSummary({ ...base, phase: 'Running' })).toThrow('ended');
});

test.each([
  [0, '0ms'],
  [999, '999ms'],
  [1_234, '1.2s'],
  [59_940, '59.9s'],
  [59_960, '1m0s'],
  [192_000, '3m12s'],
  [7_500_000, '2h5m'],
  [-5, '0ms'],
])('%d ms are shown as %s', (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text);
});

test('a test run that was given no input is recorded without one, so that it does not look like null', () => {
  expect(toRecord({ ...base, test: true, input: '' }).spec).toEqual({
    workflow: 'orders',
    revision: 'orders-abc',
    trigger: { type: 'webhook' },
    test: true,
  });
});

const BIG = '12345678901234567890';

test('the digits that the API server would round are recorded beside the numbers', () => {
  const input = `{"text_content":"","data_content":{"id":${BIG},"n":1}}`;
  const output = parseExact(`{"text_content":"","data_content":[0.1000000000000000055511151231257827]}`);
  const { spec, status } = toRecord({ ...base, input, nodes: [node({ output: output as NodeOutput })] });
  expect(spec.input).toEqual({
    text_content: '',
    data_content: { id: 12_345_678_901_234_567_000, n: 1 },
    exact: { '/data_content/id': BIG },
  });
  expect(status.nodes?.[0]?.output).toEqual({
    text_content: '',
    data_content: [0.1],
    exact: { '/data_content/0': '0.1000000000000000055511151231257827' },
  });
  expect(runSpec.safeParse(spec).success && runStatus.safeParse(status).success).toBe(true);
});

test('digits beside the numbers count as bytes of the output', () => {
  const many = `[${Array<string>(2_000).fill(BIG).join()}]`;
  const output = { text_content: '', data_content: parseExact(many) };
  const { nodes } = toRecord({ ...base, nodes: [node({ output })] }).status;
  expect(many.length).toBeLessThan(RECORD_LIMITS.maxOutputBytes);
  expect(outputBytes(output)).toBeGreaterThan(RECORD_LIMITS.maxOutputBytes);
  expect(nodes?.[0]).toMatchObject({ truncated: true, output: { data_content: null } });
  expect(nodes?.[0]?.output).not.toHaveProperty('exact');
});

test('a loop is recorded with its counts, its first failures and the items that have ended', () => {
  const failures = [{ index: 2, reason: 'Refused', message: 'm'.repeat(400) }];
  const items = { total: 9, succeeded: 1, failed: 1, running: 2, failures, ended: 'BQA=' };
  const nodes = [node({ id: 'each', phase: 'Running', items }), node({ id: 'mail', item: 2 })];
  const { status } = toRecord({ ...base, phase: 'Running', nodes });
  expect(status.nodes).toMatchObject([
    {
      id: 'each',
      items: { ...items, failures: [{ index: 2, reason: 'Refused', message: 'm'.repeat(300) }] },
    },
    { id: 'mail', item: 2 },
  ]);
  expect(runStatus.safeParse(status).error).toBeUndefined();
  const ended = toRecord({ ...base, phase: 'Cancelled', nodes });
  expect(ended.status.nodes?.[0]?.items?.running).toBe(0);
});

test('a run that waits is recorded with the time at which its wait, or its next attempt, comes', () => {
  const nodes: NodeState[] = [
    {
      id: 'pause',
      phase: 'Waiting',
      attempts: 1,
      nextAttemptAt: accepted + 600_000,
      waitingFor: { time: true },
    },
    { id: 'call', phase: 'Waiting', attempts: 1, nextAttemptAt: accepted + 60_000 },
  ];
  const { endedAt: _, ...unfinished } = base;
  const { status } = toRecord({ ...unfinished, phase: 'Waiting', nodes });
  expect(status.nodes).toMatchObject([
    { id: 'pause', waitingFor: { until: '2026-01-02T03:14:05.000Z' } },
    { id: 'call', nextAttemptTime: '2026-01-02T03:05:05.000Z' },
  ]);
  expect(status.nodes?.[0]).not.toHaveProperty('nextAttemptTime');
  expect(status.conditions).toMatchObject([
    { reason: 'Waiting', message: 'The run waits until 2026-01-02T03:05:05.000Z, and holds no runner.' },
  ]);
  expect(() => runStatus.parse(status)).not.toThrow();
});

test('an agent that waits for its memory is recorded with the time until which it does', () => {
  const nodes: NodeState[] = [
    { id: 'a', phase: 'Waiting', attempts: 0, nextAttemptAt: accepted, waitingFor: { memory: true } },
  ];
  const { endedAt: _, ...unfinished } = base;
  const { status } = toRecord({ ...unfinished, phase: 'Waiting', nodes });
  expect(status.nodes?.[0]?.waitingFor).toEqual({ memory: { until: new Date(accepted).toISOString() } });
  expect(() => runStatus.parse(status)).not.toThrow();
});

test('a node that waits for a callback is recorded with the time until which it does', () => {
  const nodes: NodeState[] = [
    { id: 'approve', phase: 'Waiting', attempts: 1, nextAttemptAt: accepted, waitingFor: { callback: true } },
  ];
  const { endedAt: _, ...unfinished } = base;
  const { status } = toRecord({ ...unfinished, phase: 'Waiting', nodes });
  expect(status.nodes?.[0]?.waitingFor).toEqual({ callback: { until: new Date(accepted).toISOString() } });
  expect(status.nodes?.[0]).not.toHaveProperty('nextAttemptTime');
  expect(() => runStatus.parse(status)).not.toThrow();
});

test('transcripts are recorded with times, and cut to their share of the record', () => {
  const entry = { role: 'Tool', tool: 't', arguments: '{}', text: 'x'.repeat(3_000) } as const;
  const times = { startedAt: accepted, endedAt: accepted + 5 };
  const agents = Array.from({ length: 6 }, (_, index) =>
    node({
      id: `a${index}`,
      transcript: { entries: Array.from({ length: 10 }, () => ({ ...entry, ...times })), omitted: 1 },
    }),
  );
  const { status } = toRecord({ ...base, nodes: agents });
  const transcripts = (status.nodes ?? []).map(({ transcript }) => transcript);
  expect(transcripts[0]?.entries[0]).toEqual({
    ...entry,
    startTime: '2026-01-02T03:04:05.000Z',
    completionTime: '2026-01-02T03:04:05.005Z',
  });
  expect(transcripts[0]?.omitted).toBe(1);
  expect(transcripts.at(-1)?.omitted).toBeGreaterThan(1);
  expect(storedBytes(transcripts)).toBeLessThan(1.2 * RECORD_LIMITS.maxTranscriptBytes);
  expect(() => runStatus.parse(status)).not.toThrow();
});

test('a child run is recorded with the mocks of its parent, so that a restore has them', () => {
  const testing = { mocks: [{ node: 'mail', output: {} }], model: { model: 'mini' } };
  const { spec } = toRecord({ ...base, test: true, testing });
  expect(spec).toMatchObject({ test: true, ...testing });
  expect(() => runSpec.parse(spec)).not.toThrow();
});

test('a mocked node is recorded with what would have been sent, as far as there is room', () => {
  const nodes = [node({ mocked: { parameters: { to: 'ada' } } })];
  expect(toRecord({ ...base, nodes }).status.nodes).toMatchObject([
    { mocked: { parameters: { to: 'ada' } } },
  ]);
  const small = { ...RECORD_LIMITS, maxTotalBytes: 5 };
  expect(toRecord({ ...base, nodes }, small).status.nodes?.[0]?.mocked).toEqual({});
});
