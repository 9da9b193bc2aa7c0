import { expect, test } from 'vitest';
import { revisionOf, type RevisionStep } from '../api/revision.ts';
import type { WorkflowSpec } from '../api/workflow.ts';
import { planResume, type FailedRun } from './resume.ts';
import type { NodeState } from './types/node.ts';
import type { Decision } from './types/run.ts';

const webhook = { id: 'trigger', webhook: { path: 'orders' } };
const set = (id: string, more: object = {}) => ({
  id,
  skill: { name: 'set', parameters: { values: '1' } },
  ...more,
});
const mail = (id: string, more: object = {}) => ({
  id,
  skill: {
    name: 'send_email',
    credential: 'smtp',
    parameters: { to: 'a@example.com', subject: 's', body: 'b' },
  },
  ...more,
});
const each = { forEach: { items: "{{ $('trigger').data_content.items }}" } };
const isMail = (step: RevisionStep) => step.kind === 'skill' && step.skill.name === 'send_email';
const hasMails = (step: RevisionStep) => step.kind === 'agent' && step.agent.tools !== undefined;
const isAtMostOnce = (step: RevisionStep, tool?: string) =>
  tool === undefined ? isMail(step) || hasMails(step) : tool === 'send_email';

const ended = (id: string, phase: NodeState['phase'], more: Partial<NodeState> = {}): NodeState => ({
  id,
  phase,
  attempts: 1,
  startedAt: 1,
  ...(phase === 'Succeeded' && { output: { text_content: id, data_content: null } }),
  ...more,
});
const succeeded = (id: string, more: Partial<NodeState> = {}) => ended(id, 'Succeeded', more);
const failed = (id: string, more: Partial<NodeState> = {}) => ended(id, 'Failed', more);
const unknown = (id: string, more: Partial<NodeState> = {}) => ended(id, 'Unknown', more);
const skipped = (id: string): NodeState => ({ id, phase: 'Skipped', attempts: 0 });

type Given = { edges?: object[]; decisions?: Decision[] } & Partial<FailedRun>;

function plan(steps: object[], nodes: NodeState[], { edges, decisions = [], ...run }: Given = {}) {
  const spec = { nodes: [webhook, ...steps], ...(edges && { edges }) } as unknown as WorkflowSpec;
  const origin: FailedRun = {
    run: 'run-1',
    phase: 'Failed',
    nodes: [succeeded('trigger'), ...nodes],
    items: undefined,
    ...run,
  };
  return planResume(origin, revisionOf(spec), decisions, isAtMostOnce);
}

/** The nodes that the run keeps or goes on with. */
const keptBy = (planned: ReturnType<typeof plan>) =>
  'reason' in planned
    ? planned
    : planned.nodes.map(({ id, phase, attempts }) => `${id} ${phase} ${attempts}`);
const chain = [set('a'), mail('b'), set('c')];

const offHandler = mail('handler', { disabled: true });
const passedOver: NodeState = { ...skipped('handler'), reason: 'Disabled' };
const handled = [
  { from: 'trigger', to: 'a' },
  { from: 'a', to: 'handler', after: 'Failure' },
  { from: 'handler', to: 'b' },
];

test.each([
  [
    'a failure that a disabled step handled stays',
    [mail('a'), offHandler, mail('b')],
    [failed('a'), passedOver, failed('b')],
    { edges: handled },
    ['a Failed 1', 'b Pending 1'],
  ],
  [
    'a disabled step is decided again',
    [set('a'), mail('off', { disabled: true }), mail('b')],
    [succeeded('a'), { ...skipped('off'), reason: 'Disabled' }, failed('b')],
    {},
    ['a Succeeded 1', 'b Pending 1'],
  ],
  [
    'the failed node runs again as the next attempt',
    chain,
    [succeeded('a'), failed('b', { attempts: 2 }), skipped('c')],
    {},
    ['a Succeeded 1', 'b Pending 2'],
  ],
  [
    'a stopped node runs again',
    chain,
    [succeeded('a'), ended('b', 'Cancelled'), skipped('c')],
    {},
    ['a Succeeded 1', 'b Pending 1'],
  ],
  [
    'a node that had not begun starts',
    chain,
    [succeeded('a'), skipped('b'), skipped('c')],
    {},
    ['a Succeeded 1'],
  ],
  [
    'a failure that was handled stays',
    [set('a', { onError: 'Continue' }), set('b')],
    [failed('a'), failed('b')],
    {},
    ['a Failed 1', 'b Pending 1'],
  ],
  [
    'a failure that an edge handled stays, with what followed it',
    [set('a'), set('h'), set('z')],
    [failed('a'), succeeded('h'), failed('z')],
    {
      edges: [
        { from: 'trigger', to: 'a' },
        { from: 'a', to: 'h', after: 'Failure' },
        { from: 'h', to: 'z' },
      ],
    },
    ['a Failed 1', 'h Succeeded 1', 'z Pending 1'],
  ],
  [
    'what followed a failed node runs again',
    [set('a'), set('b')],
    [failed('a'), succeeded('b')],
    {
      edges: [
        { from: 'trigger', to: 'a' },
        { from: 'a', to: 'b' },
      ],
    },
    ['a Pending 1', 'b Pending 1'],
  ],
  [
    'AssumeNotDone repeats the same attempt',
    chain,
    [succeeded('a'), unknown('b', { attempts: 3 }), skipped('c')],
    { decisions: [{ node: 'b', outcome: 'AssumeNotDone' }] },
    ['a Succeeded 1', 'b Pending 2'],
  ],
  [
    'AssumeNotDone repeats a first attempt',
    chain,
    [succeeded('a'), unknown('b'), skipped('c')],
    { decisions: [{ node: 'b', outcome: 'AssumeNotDone' }] },
    ['a Succeeded 1'],
  ],
  [
    'AssumeDone lets the run go on after the node',
    chain,
    [succeeded('a'), unknown('b'), skipped('c')],
    { decisions: [{ node: 'b', outcome: 'AssumeDone' }] },
    ['a Succeeded 1', 'b Succeeded 1'],
  ],
] as [string, object[], NodeState[], Given, string[]][])('%s', (_name, steps, nodes, given, expected) => {
  expect(keptBy(plan(steps, nodes, given))).toEqual(expected);
});

test('a node that runs again has no start time of the failed run', () => {
  const planned = plan(chain, [succeeded('a'), failed('b')]);
  expect(planned).toHaveProperty('nodes.0.startedAt', 1);
  expect(planned).toHaveProperty('nodes.1', { id: 'b', phase: 'Pending', attempts: 1 });
});

test('AssumeDone gives the node the output of the decision', () => {
  const output = { data_content: { messageId: 'm-1' } };
  const planned = plan(chain, [succeeded('a'), unknown('b', { reason: 'EffectUnknown', message: 'no' })], {
    decisions: [{ node: 'b', outcome: 'AssumeDone', output }],
  });
  expect(planned).toMatchObject({
    origin: 'run-1',
    nodes: [{ id: 'a' }, { id: 'b', output: { text_content: '', data_content: { messageId: 'm-1' } } }],
  });
  expect(planned).not.toHaveProperty('nodes.1.reason');
});

test('a decision is refused if its output is beyond the limit of an output', () => {
  const planned = (length: number) => {
    const output = { text_content: 'x'.repeat(length) };
    const decision = { node: 'b', outcome: 'AssumeDone', output } as const;
    return plan(chain, [succeeded('a'), unknown('b')], { decisions: [decision] });
  };
  expect(planned(511 * 1_024)).not.toHaveProperty('reason');
  expect(planned(512 * 1_024)).toMatchObject({
    reason: 'NotResumable',
    message: expect.stringContaining('node b'),
  });
});

test('a run that resumes a run in doubt is in doubt', () => {
  expect(plan(chain, [failed('a')], { isInDoubt: true })).toMatchObject({ isInDoubt: true });
  expect(plan(chain, [failed('a')])).not.toHaveProperty('isInDoubt');
});

test('a run that resumes a resumed run continues the effect keys of the first one', () => {
  expect(plan(chain, [failed('a')], { origin: 'run-0' })).toMatchObject({ origin: 'run-0' });
});

const UNDECIDED =
  'Node b of run run-1 is Unknown: its effect may have happened. Check it, then add a decision for node b: AssumeDone, with the output that later nodes read, or AssumeNotDone, which executes it again with the same effect key.';

test.each([
  ['an Unknown node without a decision', [succeeded('a'), unknown('b')], {}, 'DecisionMissing', UNDECIDED],
  [
    'a decision about another node',
    [succeeded('a'), failed('b')],
    { decisions: [{ node: 'b', outcome: 'AssumeDone' }] },
    'NotResumable',
    'Node b of run run-1 is Failed, and not Unknown: remove its decision.',
  ],
  [
    'a decision about no node',
    [failed('a')],
    { decisions: [{ node: 'x', outcome: 'AssumeDone' }] },
    'NotResumable',
    'Node x has no state in run run-1: remove its decision.',
  ],
  [
    'two decisions about a node',
    [unknown('b')],
    {
      decisions: [
        { node: 'b', outcome: 'AssumeDone' },
        { node: 'b', outcome: 'AssumeNotDone' },
      ],
    },
    'NotResumable',
    'Node b has two decisions: remove one.',
  ],
  [
    'a run that succeeded',
    [],
    { phase: 'Succeeded' },
    'NotResumable',
    'Run run-1 is Succeeded: only a failed run can be resumed. Remove resume to repeat the run from its start.',
  ],
  [
    'a run that goes on',
    [],
    { phase: 'Running' },
    'NotResumable',
    'Run run-1 is Running: only a failed run can be resumed. Remove resume to repeat the run from its start.',
  ],
] as [string, NodeState[], Given, string, string][])(
  '%s is refused',
  (_name, nodes, given, reason, message) => {
    expect(plan(chain, nodes, given)).toEqual({ reason, message });
  },
);

const items = new Map([
  ['l.0', succeeded('l.0')],
  ['l.1', failed('l.1')],
  ['l.2', unknown('l.2')],
  ['other.0', succeeded('other.0')],
]);
const counts = (
  succeeded: number,
  failed: number,
  failures: { index: number; reason: string; message: string }[] = [],
) => ({
  items: { total: 3, succeeded, failed, running: 0, failures, ended: '' },
});

test('a loop keeps the items that succeeded, and executes the others again', () => {
  const planned = plan([set('l', each)], [failed('l', counts(1, 1))], { items });
  expect(planned).toMatchObject({ nodes: [{ id: 'l', phase: 'Running', attempts: 1 }] });
  expect(planned).not.toHaveProperty('nodes.0.startedAt');
  expect('items' in planned && [...planned.items.keys()]).toEqual(['l.0']);
});

test('with onError: Continue failed items are results, and stay', () => {
  const planned = plan([set('l', { ...each, onError: 'Continue' })], [unknown('l', counts(1, 1))], {
    items,
    decisions: [{ node: 'l', outcome: 'AssumeNotDone' }],
  });
  expect('items' in planned && [...planned.items.keys()]).toEqual(['l.0', 'l.1']);
});

test('a loop whose items are gone starts from its first item', () => {
  expect(plan([set('l', each)], [failed('l', counts(1, 1))])).toMatchObject({ nodes: [], items: new Map() });
});

const group = (more: object = {}) => ({ id: 'l', group: {}, ...more });
const within = { within: 'l' };
const only = [{ index: 1, reason: 'Refused', message: '' }];

test.each([
  ['mails whose items are known', [mail('l', each)], [failed('l', counts(1, 1))], { items }, true],
  ['mails whose items are gone', [mail('l', each)], [failed('l', counts(1, 1))], {}, false],
  [
    'mails of which none was sent, whose items are gone',
    [mail('l', each)],
    [failed('l', counts(0, 1))],
    {},
    true,
  ],
  [
    'a group whose mail failed',
    [group(), mail('m', within), set('s', within)],
    [failed('l'), failed('m'), skipped('s')],
    {},
    true,
  ],
  [
    'a group whose mail was sent',
    [group(), mail('m', within), set('s', within)],
    [failed('l'), succeeded('m'), failed('s')],
    {},
    false,
  ],
  ['a group that may have sent a mail', [group(), mail('m', within)], [failed('l')], {}, false],
  [
    'a group with items whose only failed item sent no mail',
    [group(each), mail('m', within)],
    [failed('l', counts(1, 1, only)), failed('m', { item: 1 })],
    { items },
    true,
  ],
  [
    'a group with items of which several failed',
    [group(each), mail('m', within)],
    [failed('l', counts(1, 2, only)), failed('m', { item: 1 })],
    { items },
    false,
  ],
  ['a repeated mail', [mail('l', { repeat: { until: 'false', limit: 3 } })], [failed('l')], {}, false],
] as [string, object[], NodeState[], Given, boolean][])('%s: %#', (_name, steps, nodes, given, isResumed) => {
  const planned = plan(steps, nodes, given);
  const reason = 'reason' in planned ? planned.reason : undefined;
  expect(reason).toBe(isResumed ? undefined : 'DataLost');
});

const agent = (id: string, more: object = {}) => ({
  id,
  agent: {
    credential: 'llm',
    model: 'm',
    prompt: 'p',
    tools: [{ skill: 'send_email', credential: 'smtp' }, { skill: 'http_request' }],
  },
  ...more,
});
const called = (tool: string, more: object = {}) => ({
  transcript: {
    omitted: 0,
    entries: [
      { role: 'User' as const, text: 'p' },
      { role: 'Tool' as const, text: 'sent', tool, startedAt: 1, endedAt: 2, ...more },
    ],
  },
});
const cut = { transcript: { omitted: 3, entries: [] } };
const toolDone = 'it has called the tool send_email';
const toolOpen = 'its record does not show whether it has called send_email';
const again = [{ node: 'a', outcome: 'AssumeNotDone' as const }];

test.each<[string, NodeState, Given, string | undefined]>([
  ['that has sent a mail', failed('a', called('send_email')), {}, toolDone],
  ['that was stopped after a mail', ended('a', 'Cancelled', called('send_email')), {}, toolDone],
  [
    'whose mail is in doubt, after another one',
    unknown('a', called('send_email')),
    { decisions: again },
    toolDone,
  ],
  ['whose transcript is cut', failed('a', cut), {}, toolOpen],
  ['whose mail failed', failed('a', called('send_email', { isError: true })), {}, undefined],
  [
    'whose mail did not happen',
    unknown('a', called('send_email', { endedAt: undefined })),
    { decisions: again },
    undefined,
  ],
  ['that called another tool', failed('a', called('http_request')), {}, undefined],
  ['that called nothing', failed('a'), {}, undefined],
  ['whose calls nobody stored', failed('a', { agent: { answers: 1, toolCalls: 1 } }), {}, toolOpen],
  ['that only answered', failed('a', { agent: { answers: 1, toolCalls: 0 } }), {}, undefined],
  ['that called nothing, from the record', failed('a'), { isRecorded: true }, undefined],
])('an agent %s: %#', (_name, node, given, why) => {
  const planned = plan([agent('a')], [node], given);
  const refusal = 'reason' in planned ? planned : undefined;
  expect(refusal?.reason).toBe(why && 'NotResumable');
  expect(refusal?.message ?? '').toContain(why ?? '');
});

test('an agent whose transcript is withheld from the record is not executed again', () => {
  const revision = {
    ...revisionOf({ nodes: [webhook, agent('a')] } as unknown as WorkflowSpec),
    sensitive: ['a'],
  };
  const run = { run: 'run-1', phase: 'Failed' as const, nodes: [failed('a')], items: undefined };
  expect(planResume({ ...run, isRecorded: true }, revision, [], isAtMostOnce)).toMatchObject({
    reason: 'NotResumable',
    message: expect.stringContaining(toolOpen),
  });
  expect(planResume(run, revision, [], isAtMostOnce)).toMatchObject({ nodes: [{ id: 'a' }] });
});

test.each<[string, object[], NodeState[], Given, boolean]>([
  ['with a failed item', [agent('l', each)], [failed('l', counts(2, 1))], { items }, false],
  ['whose items succeeded', [agent('l', each)], [failed('l', counts(3, 0))], { items }, true],
  ['in a group that failed', [group(), agent('m', within)], [failed('l'), failed('m')], {}, false],
  ['in a group that never began', [group(), agent('m', within)], [failed('l'), skipped('m')], {}, true],
])('a loop over an agent %s: %#', (_name, steps, nodes, given, isResumed) => {
  const planned = plan(steps, nodes, given);
  expect('reason' in planned ? planned.reason : undefined).toBe(isResumed ? undefined : 'DataLost');
});

const order = (id: string, more: object = {}) => ({
  id,
  skill: {
    name: 'http_request',
    parameters: { url: 'https://a.example', body: { to: "{{ $url('done') }}" } },
  },
  ...more,
});
const done = { id: 'done', wait: { callback: {} } };

test.each<[string, object[], NodeState[], boolean]>([
  ['after its timeout', [order('a'), done], [succeeded('a'), failed('done')], false],
  ['that was stopped', [order('a'), done, set('b')], [succeeded('a'), ended('done', 'Cancelled')], false],
  [
    'behind the failed node',
    [order('a'), set('b'), done],
    [succeeded('a'), failed('b'), skipped('done')],
    false,
  ],
  [
    'whose URL a group has sent',
    [group(), order('a', within), done],
    [succeeded('l'), succeeded('a'), failed('done')],
    false,
  ],
  ['that has come', [order('a'), done, set('b')], [succeeded('a'), succeeded('done'), failed('b')], true],
  ['whose URL is sent again', [order('a'), done], [failed('a'), skipped('done')], true],
  [
    'whose URL a second node sends again',
    [order('a'), order('b'), done],
    [succeeded('a'), failed('b'), skipped('done')],
    true,
  ],
  ['whose URL no node sends', [set('a'), done], [succeeded('a'), failed('done')], true],
])('a callback %s: %#', (_name, steps, nodes, isResumed) => {
  const planned = plan(steps, nodes);
  const refusal = 'reason' in planned ? planned : undefined;
  expect(refusal?.reason).toBe(isResumed ? undefined : 'NotResumable');
  expect(refusal?.message ?? 'resumed').toMatch(
    /^(resumed$|Node done of run run-1 waits for a callback, and node [al] has sent )/,
  );
});

test('a loop in doubt says how many items would be left out', () => {
  const planned = plan([mail('l', each)], [unknown('l', counts(1, 1))], { items });
  expect(planned).toMatchObject({
    reason: 'DecisionMissing',
    message: expect.stringContaining('without its items that have not ended (1), or AssumeNotDone'),
  });
});
