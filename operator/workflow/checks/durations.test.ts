import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { durationNotes } from './durations.ts';

const secretRefs = [{ name: 'shop', key: 'secret' }];
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
    'node trigger: webhook.replyTimeout is not within 1s to 5m: 5m counts.',
  ],
  [
    'a tolerance of a month',
    spec([{ id: 't', webhook: { path: 'a', auth: { standardWebhooks: { secretRefs, tolerance: '30d' } } } }]),
    'node t: webhook.auth.tolerance is not within 1s to 1d: 1d counts.',
  ],
  [
    'no time for a step',
    spec([trigger, step({ timeout: '0s' })]),
    'node reply: timeout is not within 1ms to 24d: 1ms counts.',
  ],
  [
    'a wait beyond every timer',
    spec([trigger, step({ retry: { limit: 1, backoff: { max: '60d' } } })]),
    'node reply: retry.backoff.max is not within 0s to 24d: 24d counts.',
  ],
  [
    'a first wait that is longer than the longest',
    spec([trigger, step({ retry: { limit: 1, backoff: { initial: '5m' } } })]),
    'node reply: retry.backoff.initial is longer than max, which is 60s by default: max counts.',
  ],
  ['no time for a run', spec([trigger], { timeout: '0s' }), 'timeout is not within 1s to 365d: 1s counts.'],
  [
    'records of ten thousand years',
    spec([trigger], { history: { ttl: '3650000d' } }),
    'history.ttl is not within 0s to 3650d: 3650d counts.',
  ],
  [
    'data that outlive their run',
    spec([trigger], { history: { ttl: '7d', dataTTL: '30d' } }),
    'history.dataTTL is longer than history.ttl: ttl counts.',
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
