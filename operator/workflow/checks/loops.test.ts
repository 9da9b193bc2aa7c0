/** What a workflow with groups and loops must not do, and the place and remedy that each message names. */
import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { validate } from '../validate.ts';

const webhook = { id: 'trigger', webhook: { path: 'orders' } };
const items = "{{ $('trigger').data_content.items }}";
const each = { id: 'each', group: {}, forEach: { items } };
const set = (id: string, values: unknown, more: object = {}) => ({
  id,
  skill: { name: 'set', parameters: { values } },
  ...more,
});
const mail = (id: string, more: object = {}) => ({
  id,
  skill: {
    name: 'send_email',
    credential: 'smtp',
    parameters: { to: 'ada@example.com', subject: 'Hello', body: 'Text' },
  },
  ...more,
});
const specOf = (nodes: object[]): WorkflowSpec => ({ active: true, nodes: nodes as WorkflowNode[] });
const within = 'each';

test.each<[string, object[], string, RegExp]>([
  [
    'items that are a text',
    [set('a', 'item', { forEach: { items: 'three' } })],
    'InvalidExpression',
    /^node a: forEach\.items: must be one reference to an array, such as /,
  ],
  [
    'items that name a node of the body',
    [{ ...each, forEach: { items: "{{ $('a').data_content }}" } }, set('a', '1', { within })],
    'UnknownReference',
    /^node each: forEach\.items: .*\$\('a'\)/,
  ],
  [
    'a group without a body',
    [each],
    'UnreachableStep',
    /^node each: the group has no body: set within: each on the nodes that belong to it$/,
  ],
  [
    'a retry of a group that would repeat a mail',
    [{ ...each, retry: { limit: 1 } }, mail('send', { within })],
    'InvalidParameters',
    /^node each: retry would repeat node send, .*at most once: remove retry, or set it on single nodes/,
  ],
  [
    'a retry of a group that would repeat a mail of an inner group',
    [{ ...each, retry: { limit: 1 } }, { id: 'inner', group: {}, within }, mail('send', { within: 'inner' })],
    'InvalidParameters',
    /^node each: retry would repeat node send/,
  ],
  [
    'a response in a loop',
    [each, { id: 'reply', response: { body: 'ok' }, within }],
    'InvalidParameters',
    /^node reply: a response is in the loop each, but a run has one reply: move it out of the group$/,
  ],
  [
    'a response in a group of a loop',
    [each, { id: 'inner', group: {}, within }, { id: 'reply', response: { body: 'ok' }, within: 'inner' }],
    'InvalidParameters',
    /^node reply: a response is in the loop each/,
  ],
  [
    'an end of repeat that is no condition',
    [set('a', '1', { repeat: { until: 'nodes.a.', limit: 3 } })],
    'InvalidExpression',
    /^node a: repeat\.until: /,
  ],
  [
    'an end of repeat that names a later node',
    [set('a', '1', { repeat: { until: 'nodes.b.data_content == 1.0', limit: 3 } }), set('b', '2')],
    'UnknownReference',
    /^node a: repeat\.until: nodes\.b names a node that does not come before a: add an edge/,
  ],
  [
    'a reference to a body from outside',
    [
      each,
      set('a', '1', { within }),
      mail('m', {
        skill: {
          ...mail('m').skill,
          parameters: {
            to: 'ada@example.com',
            subject: 'x',
            body: "{{ $('a').text_content }}",
          },
        },
      }),
    ],
    'UnknownReference',
    /^node m: .*\$\('a'\)\.text_content names a node in the body of the group each, .* name each/,
  ],
])('%s is refused', (_what, nodes, reason, message) => {
  expect(validate(specOf([webhook, ...nodes]))).toContainEqual({
    reason,
    message: expect.stringMatching(message),
  });
});

test.each<[string, object[]]>([
  [
    'a response in a plain group',
    [
      { id: 'g', group: {} },
      { id: 'r', response: { body: 'ok' }, within: 'g' },
    ],
  ],
  [
    'a retry of a group without such an effect',
    [{ ...each, retry: { limit: 1 } }, set('a', 'item', { within })],
  ],
  [
    'an end of repeat that names the node itself',
    [set('a', '1', { repeat: { until: 'nodes.a.data_content == 1.0', limit: 3 } })],
  ],
  ['the item of an outer group', [each, set('a', 'nodes.each.item.name', { within })]],
])('%s is valid', (_what, nodes) => {
  expect(validate(specOf([webhook, ...nodes]))).toEqual([]);
});
