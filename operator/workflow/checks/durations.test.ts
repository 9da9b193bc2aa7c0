import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { durationNotes } from './durations.ts';

const secretRefs = [{ name: 'shop', key: 'secret' }];
const hmac = { secretRefs, header: 'x-signature', timestampHeader: 'x-time' };
const trigger: WorkflowNode = { id: 'trigger', webhook: { path: 'orders' } };
const step = (options: Partial<WorkflowNode>): WorkflowNode => ({
  id: 'reply',
  response: { body: 'ok' },
  ...options,
});
const spec = (nodes: WorkflowNode[], more: Partial<WorkflowSpec> = {}): WorkflowSpec => ({
  active: true,
  nodes,
  ...more,
});

test.each<[sentence: string, spec: WorkflowSpec, says: string]>([
  [
    'a reply that is waited for too long',
    spec([{ id: 'trigger', webhook: { path: 'a', replyTimeout: '10m' } }]),
    'node trigger: webhook.replyTimeout is outside 1s to 5m: 5m is used instead.',
  ],
  [
    'a tolerance of a month',
    spec([{ id: 't', webhook: { path: 'a', auth: { standardWebhooks: { secretRefs, tolerance: '30d' } } } }]),
    'node t: webhook.auth.standardWebhooks.tolerance is outside 1s to 1d: 1d is used instead.',
  ],
  [
    'a tolerance of nothing',
    spec([{ id: 't', webhook: { path: 'a', auth: { hmac: { ...hmac, tolerance: '0s' } } } }]),
    'node t: webhook.auth.hmac.tolerance is outside 1s to 1d: 1s is used instead.',
  ],
  [
    'no time for a step',
    spec([trigger, step({ timeout: '0s' })]),
    'node reply: timeout is outside 1ms to 24d: 1ms is used instead.',
  ],
  [
    'a wait beyond every timer',
    spec([trigger, step({ retry: { limit: 1, backoff: { max: '60d' } } })]),
    'node reply: retry.backoff.max is outside 0s to 24d: 24d is used instead.',
  ],
  [
    'a first wait that is longer than the longest',
    spec([trigger, step({ retry: { limit: 1, backoff: { initial: '5m' } } })]),
    'node reply: retry.backoff.initial is longer than retry.backoff.max (default 60s): max is used.',
  ],
  [
    'no time for a run',
    spec([trigger], { timeout: '0s' }),
    'timeout is outside 1s to 365d: 1s is used instead.',
  ],
  [
    'records of ten thousand years',
    spec([trigger], { history: { ttl: '3650000d' } }),
    'history.ttl is outside 0s to 3650d: 3650d is used instead.',
  ],
  [
    'data that outlive their run',
    spec([trigger], { history: { ttl: '7d', dataTTL: '30d' } }),
    'history.dataTTL is longer than history.ttl: ttl is used.',
  ],
])('%s is said, with what counts instead', (_sentence, given, says) => {
  expect(durationNotes(given)).toEqual([says]);
});

test('nothing is said of durations at their bounds', () => {
  const nodes = [
    { id: 'trigger', webhook: { path: 'a', replyTimeout: '5m' } },
    step({ timeout: '1ms', retry: { limit: 1, backoff: { initial: '60s' } } }),
  ];
  expect(durationNotes(spec(nodes, { timeout: '365d', history: { ttl: '7d', dataTTL: '168h' } }))).toEqual(
    [],
  );
});
