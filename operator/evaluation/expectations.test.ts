import { expect, test } from 'vitest';
import type { WorkflowRun } from '../../api/kinds.ts';
import type { NodeStatus } from '../../api/nodeStatus.ts';
import type { Expectation } from './cases.ts';
import { judge } from './expectations.ts';

const agent: NodeStatus = {
  id: 'agent',
  phase: 'Succeeded',
  output: {
    text_content: 'I refunded order 7.',
    data_content: {
      json: { mood: 'good' },
      tool_calls: [{ name: 'refund', arguments: '{"order":7}', error: false }],
    },
  },
  usage: { inputTokens: 90, outputTokens: 10 },
};
const mail: NodeStatus = {
  id: 'mail',
  phase: 'Succeeded',
  output: { text_content: 'Sent.', data_content: { count: 2 } },
  mocked: { parameters: { to: 'ada@example.com' } },
};
const failed: NodeStatus = { id: 'mail', phase: 'Failed', reason: 'Refused', message: 'no mailbox' };

function run(nodes: NodeStatus[] = [agent, mail], status: Partial<WorkflowRun['status']> = {}): WorkflowRun {
  const startTime = '2026-01-01T00:00:00.000Z';
  const completionTime = '2026-01-01T00:00:01.500Z';
  return {
    metadata: { name: 'r', namespace: 'shop' },
    spec: { workflow: 'refunds', test: true },
    status: { phase: 'Succeeded', startTime, completionTime, nodes, ...status },
  } as WorkflowRun;
}

test.each<[string, Expectation]>([
  ['a text of the last output', { contains: 'Sent' }],
  ['a text in data', { contains: '"count":2' }],
  ['a text of a named node', { contains: 'order 7', of: 'agent' }],
  [
    'a schema for the structured answer of an agent',
    { schema: { type: 'object', required: ['mood'] }, of: 'agent' },
  ],
  [
    'a schema for the data of a node',
    { schema: { type: 'object', properties: { count: { type: 'number', maximum: 2 } } } },
  ],
  ['CEL over outputs', { cel: 'nodes.mail.data_content.count == 2.0' }],
  ['CEL over tool calls', { cel: "nodes.agent.data_content.tool_calls.exists(c, c.name == 'refund')" }],
  ['CEL over the parameters of a mock', { cel: "nodes.mail.parameters.to == 'ada@example.com'" }],
  ['CEL over the run', { cel: "run.test && run.workflow == 'refunds'" }],
  ['tokens at the limit', { tokensAtMost: 100 }],
])('an expectation is met: %s', (_what, expectation) => {
  expect(judge({ phase: 'Succeeded', expect: [expectation] }, run()).findings).toEqual([]);
});

test.each<[string, Expectation, NodeStatus[], RegExp]>([
  ['another text', { contains: 'Rejected' }, [agent, mail], /^Sent\.$/],
  ['a node that did not run', { contains: 'a', of: 'x' }, [mail], /node x did not run/],
  ['a failed node', { contains: 'a', of: 'mail' }, [failed], /node mail is Failed: Refused: no mailbox/],
  ['no output at all', { contains: 'a' }, [failed], /no node has an output/],
  [
    'a withheld output',
    { contains: 'a' },
    [{ ...mail, redacted: true }],
    /withholds the output of node mail/,
  ],
  [
    'a cut output',
    { schema: { type: 'object' }, of: 'mail' },
    [{ ...mail, truncated: true }],
    /too large for the record/,
  ],
  [
    'a wrong value',
    { schema: { type: 'object', properties: { count: { type: 'number', maximum: 1 } } } },
    [mail],
    /^count: .*\{"count":2\}/,
  ],
  ['CEL that is false', { cel: 'nodes.mail.data_content.count == 3.0' }, [mail], /^false$/],
  ['CEL over what is not there', { cel: 'nodes.mail.data_content.none == 1' }, [mail], /none/],
  [
    'CEL over a cut output',
    { cel: 'nodes.mail.data_content == 1' },
    [{ ...mail, truncated: true }],
    /too large/,
  ],
  ['too many tokens', { tokensAtMost: 99 }, [agent], /^100 tokens$/],
])('an expectation is not met: %s', (_what, expectation, nodes, got) => {
  const { findings } = judge({ phase: 'Succeeded', expect: [expectation] }, run(nodes));
  expect(findings).toMatchObject([{ got: expect.stringMatching(got) as string }]);
});

test('a run that failed is a finding with its reason, unless the case expects it', () => {
  const status = { phase: 'Failed', reason: 'NodeFailed', message: 'node mail: Refused' } as const;
  const { findings } = judge({ phase: 'Succeeded', expect: [] }, run([failed], status));
  expect(findings).toEqual([
    { expectation: 'phase: Succeeded', got: 'Failed: NodeFailed: node mail: Refused' },
  ]);
  const given = { phase: 'Failed' as const, expect: [{ cel: "nodes.mail.error.reason == 'Refused'" }] };
  expect(judge(given, run([failed], status)).findings).toEqual([]);
});

test('tokens and time are counted, and long texts are cut', () => {
  const long = { ...mail, output: { text_content: 'x'.repeat(1_000) } };
  const verdict = judge({ phase: 'Succeeded', expect: [{ contains: 'y' }] }, run([agent, long]));
  expect(verdict).toMatchObject({ tokens: 100, seconds: 1.5 });
  expect(verdict.findings[0]?.got).toHaveLength(300);
});
