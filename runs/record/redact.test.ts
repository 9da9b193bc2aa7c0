import { expect, test } from 'vitest';
import type { RunEvent } from '../types/event.ts';
import type { NodeState } from '../types/node.ts';
import type { RunState } from '../types/run.ts';
import { toRecord } from './record.ts';
import { redactEvent, redactRun, type DataPolicy } from './redact.ts';

const node = (id: string): NodeState => ({
  id,
  phase: 'Succeeded',
  attempts: 1,
  message: `message of ${id}`,
  log: `log of ${id}`,
  sent: { parameters: { to: `sent by ${id}` } },
  missing: { reference: id, at: id, type: 'object', keys: [`key of ${id}`] },
  transcript: { entries: [{ role: 'User', text: `prompt of ${id}` }], omitted: 0 },
  output: { text_content: `text of ${id}`, data_content: null },
});
const state = (changes: Partial<RunState> = {}): RunState => ({
  run: 'orders-1',
  project: 'project',
  workflow: 'orders',
  workflowUid: 'uid',
  group: 'uid',
  revision: 'orders-abc',
  trigger: 'webhook',
  test: false,
  phase: 'Succeeded',
  epoch: 1,
  sequence: 1,
  acceptedAt: 0,
  cancelRequested: false,
  crashes: 0,
  input: '{"text_content":"","data_content":{"card":"4111"}}',
  nodes: [node('trigger'), node('charge'), node('mail')],
  ...changes,
});
const trigger = { id: 'trigger' };

/** Nodes whose output is shown, and whether the input is. */
function shown(policy: DataPolicy | undefined, changes: Partial<RunState> = {}): [string, boolean] {
  const { nodes, input } = redactRun(state(changes), policy);
  const ids = nodes.filter(({ output }) => output !== undefined).map(({ id }) => id);
  // What else is data of a node is shown exactly where its output is.
  expect(nodes.filter(({ sent }) => sent !== undefined).map(({ id }) => id)).toEqual(ids);
  expect(nodes.filter(({ missing }) => missing !== undefined).map(({ id }) => id)).toEqual(ids);
  expect(nodes.filter(({ log }) => log !== undefined).map(({ id }) => id)).toEqual(ids);
  expect(nodes.filter(({ transcript }) => transcript !== undefined).map(({ id }) => id)).toEqual(ids);
  return [ids.join(' '), input !== ''];
}

test.each<[string, DataPolicy | undefined, Partial<RunState>, string, boolean]>([
  ['All', { trigger }, {}, 'trigger charge mail', true],
  ['None', { trigger, recordData: 'None' }, {}, '', false],
  ['None, failed', { trigger, recordData: 'None' }, { phase: 'Failed' }, '', false],
  ['Errors, succeeded', { trigger, recordData: 'Errors' }, {}, '', false],
  ['Errors, running', { trigger, recordData: 'Errors' }, { phase: 'Running' }, '', false],
  ['Errors, cancelled', { trigger, recordData: 'Errors' }, { phase: 'Cancelled' }, '', false],
  ['Errors, failed', { trigger, recordData: 'Errors' }, { phase: 'Failed' }, 'trigger charge mail', true],
  ['a sensitive step', { trigger, sensitive: ['charge'] }, { phase: 'Failed' }, 'trigger mail', true],
  ['a sensitive trigger', { trigger, sensitive: ['trigger'] }, {}, 'charge mail', false],
  ['a revision that is gone', undefined, {}, '', false],
  ['None, but the object holds its input', { trigger, recordData: 'None' }, { recordUid: 'u' }, '', true],
])('what is recorded: %s', (_name, policy, changes, nodes, hasInput) => {
  expect(shown(policy, changes)).toEqual([nodes, hasInput]);
});

test('a record says that its input and an output were left out, so that neither is taken for empty', () => {
  const redacted = redactRun(state(), { trigger, recordData: 'None' });
  const { spec, status } = toRecord(redacted);
  expect(spec.input).toBeUndefined();
  expect(spec).toMatchObject({ inputRedacted: true, inputTruncated: true });
  expect(status.nodes?.[1]).toMatchObject({ id: 'charge', redacted: true, truncated: true });
  expect(status.nodes?.[1]?.output).toBeUndefined();
  expect(JSON.stringify({ spec, status })).not.toContain('4111');
});

test('messages of a sensitive node are left out, and those of other nodes are not', () => {
  const { nodes } = redactRun(state(), { trigger, sensitive: ['charge'] });
  expect(nodes.map(({ message }) => message)).toEqual([
    'message of trigger',
    'The message is left out, because the node is sensitive.',
    'message of mail',
  ]);
});

test('live text of a node whose output is not recorded is not shown', () => {
  const text: RunEvent = { id: '1', at: 0, type: 'text', node: 'charge', text: 'secret' };
  const ended: RunEvent = {
    id: '2',
    at: 0,
    type: 'node',
    node: 'charge',
    phase: 'Failed',
    attempt: 1,
    message: 'secret',
  };
  const entry: RunEvent = {
    id: '3',
    at: 0,
    type: 'transcript',
    node: 'charge',
    position: 0,
    entry: { role: 'User', text: 'secret' },
  };
  for (const event of [text, entry]) {
    expect(redactEvent(event, { trigger })).toBe(event);
    expect(redactEvent(event, { trigger, recordData: 'Errors' })).toBeUndefined();
    expect(redactEvent(event, { trigger, sensitive: ['charge'] })).toBeUndefined();
    expect(redactEvent(event, undefined)).toBeUndefined();
  }
  expect(redactEvent(ended, { trigger, recordData: 'None' })).toBe(ended);
  expect(JSON.stringify(redactEvent(ended, { trigger, sensitive: ['charge'] }))).not.toContain('secret');
});

test('the record withholds why items of a sensitive node failed, and counts them', () => {
  const failures = [{ index: 3, reason: 'Refused', message: 'card 4111' }];
  const items = { total: 9, succeeded: 1, failed: 1, running: 0, failures };
  const nodes = [{ ...node('charge'), items }];
  const policy = { trigger, sensitive: ['charge'] };
  expect(redactRun(state({ nodes }), policy).nodes[0]?.items).toMatchObject({
    failed: 1,
    failures: [{ index: 3, reason: 'Refused', message: expect.not.stringContaining('4111') }],
  });
  expect(redactRun(state({ nodes }), { trigger }).nodes[0]?.items).toEqual(items);
});

test('the URL of a callback in the input of a run is withheld, also where its nodes pass it on', () => {
  const url = 'https://hooks.example.com/callback/wlc.p.k.dGFyZ2V0.c2ln';
  const input = JSON.stringify({ text_content: '', data_content: { approve: url, item: 'desk' } });
  const nodes = [{ ...node('mail'), output: { text_content: `sent ${url}`, data_content: { url } } }];
  const shown = redactRun(state({ input, nodes, message: `node mail: ${url}` }), { trigger });
  const record = toRecord(shown);
  expect(JSON.stringify([shown, record])).not.toContain('wlc.');
  expect(record.spec).toMatchObject({
    inputTruncated: true,
    input: { data_content: { approve: '[URL of a callback]', item: 'desk' } },
  });
});

test('the parameters of a mocked node are withheld like its output', () => {
  const mocked = { parameters: { to: 'ada' } };
  const nodes = [{ ...node('mail'), mocked }];
  expect(redactRun(state({ nodes }), { trigger }).nodes[0]?.mocked).toEqual(mocked);
  expect(redactRun(state({ nodes }), { trigger, sensitive: ['mail'] }).nodes[0]?.mocked).toEqual({});
});
