import { expect, test } from 'vitest';
import { revisionOf } from '../../api/revision.ts';
import type { NodeStatus } from '../../api/nodeStatus.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { recordedNode } from './restorePlan.ts';

test.each<[string, { effect?: string; agent?: NodeStatus['agent'] }, object | undefined]>([
  ['has called a tool', { agent: { answers: 1, toolCalls: 1 } }, { attempt: 2, atMostOnce: true }],
  ['may have called a tool', {}, { attempt: 2, atMostOnce: true }],
  ['has called none', { agent: { answers: 0, toolCalls: 0 } }, undefined],
  [
    'has a tool that may be repeated',
    { effect: 'AtLeastOnce', agent: { answers: 1, toolCalls: 1 } },
    undefined,
  ],
])(
  'the mark of an agent that waited for its next attempt and %s',
  (_what, { effect = 'AtMostOnce', agent }, mark) => {
    const tools = [{ skill: 'send_email', credential: 'smtp', effect }];
    const plan = revisionOf({
      nodes: [
        { id: 'trigger', webhook: { path: 'orders' } },
        { id: 'a', agent: { credential: 'llm', model: 'm', prompt: 'hi', tools } },
      ],
    } as unknown as WorkflowSpec);
    const waiting: NodeStatus = {
      id: 'a',
      phase: 'Waiting',
      attempts: 2,
      reason: 'RateLimited',
      nextAttemptTime: '2026-01-01T02:00:00.000Z',
      ...(agent && { agent }),
    };
    expect(recordedNode(waiting, plan).mark).toEqual(mark);
  },
);
