import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { proposalEffects } from './proposalEffects.ts';

const webhook: WorkflowNode = {
  id: 'trigger',
  webhook: { path: 'a', auth: { bearer: { secretRefs: [{ name: 's', key: 'k' }] } } },
};
const http = (url: string): WorkflowNode => ({
  id: 'call',
  skill: { name: 'http_request', parameters: { url } },
});
const ADA = 'ada@a.example';
const mail = (parameters: object): WorkflowNode => ({
  id: 'mail',
  skill: { name: 'send_email', parameters: { ...parameters } },
});
const agent = (tools: object[]): WorkflowNode => ({
  id: 'ai',
  agent: { credential: 'llm', model: 'm', prompt: 'p', tools },
});
const spec = (nodes: WorkflowNode[], more: object = {}): WorkflowSpec => ({ active: false, nodes, ...more });

test.each<[string, WorkflowSpec, WorkflowSpec, string[]]>([
  ['the same', spec([webhook, http('https://a.example')]), spec([webhook, http('https://a.example')]), []],
  [
    'another host',
    spec([webhook, http('https://a.example/x')]),
    spec([webhook, http('https://u:p@EVIL.example:8443/x?y')]),
    ['Data goes to a new host: evil.example:8443.'],
  ],
  [
    'a computed host',
    spec([webhook]),
    spec([webhook, http("https://{{ $('trigger').text_content }}/x")]),
    ['call calls a URL that an expression computes.'],
  ],
  [
    'a recipient and a credential',
    spec([webhook]),
    spec([
      webhook,
      {
        id: 'mail',
        skill: { name: 'send_email', credential: 'smtp', parameters: { to: 'Eve@evil.example' } },
      },
    ]),
    ['A new email address is used: eve@evil.example.', 'The credential smtp is used.'],
  ],
  [
    'recipients that are computed, of a step and of a tool',
    spec([
      webhook,
      mail({ to: ADA, cc: '{{ $vars.copy }}' }),
      agent([{ skill: 'send_email', name: 'mail' }]),
    ]),
    spec([
      webhook,
      mail({ to: [ADA, "{{ $('trigger').data_content.to }}"], cc: '{{ $vars.copy }}' }),
      agent([{ skill: 'send_email', name: 'mail', parameters: { to: '{{ $vars.boss }}' } }]),
    ]),
    [
      'mail sends to a recipient that an expression computes.',
      'ai sends to a recipient that an expression computes.',
    ],
  ],
  [
    'a recipient in a domain of another script',
    spec([webhook, http('https://a.example')]),
    spec([webhook, { ...http('https://a.example'), displayName: 'To eve@bücher.example' }]),
    ['A new email address is used: eve@bücher.example.'],
  ],
  [
    'a webhook that becomes public',
    spec([webhook]),
    spec([{ id: 'trigger', webhook: { path: 'a' } }]),
    ['Anybody who knows the URL can call the webhook.'],
  ],
  [
    'another trigger',
    spec([webhook]),
    spec([{ id: 'trigger', schedule: { cron: '0 9 * * *' } }]),
    ['The trigger changes from Webhook to Schedule.'],
  ],
  [
    'an approval that is gone',
    spec([webhook, { id: 'approval', wait: { callback: {} } }]),
    spec([webhook]),
    ['The node approval is removed: the run no longer waits there, as for an approval.'],
  ],
  [
    'an approval and a group that are disabled, and a step that is enabled',
    spec([
      webhook,
      { id: 'approval', wait: { callback: {} } },
      { id: 'each', group: {} },
      { ...http('https://a.example'), disabled: true },
    ]),
    spec([
      webhook,
      { id: 'approval', wait: { callback: {} }, disabled: true },
      { id: 'each', group: {}, disabled: true },
      http('https://a.example'),
    ]),
    [
      'The node approval is disabled: the run no longer waits there, as for an approval.',
      'The node each is disabled, with its body.',
      'The node call is executed again.',
    ],
  ],
  [
    'an effect that may be repeated',
    spec([webhook, { ...http('https://a.example'), effect: 'AtMostOnce' }]),
    spec([webhook, http('https://a.example')]),
    ['The effect of call is the default of the node; it was At most once.'],
  ],
  [
    'tools of an agent',
    spec([webhook, agent([{ skill: 'send_email', name: 'mail' }])]),
    spec([webhook, agent([{ workflow: 'refund' }])]),
    ['ai loses the tool mail.', 'The model of ai can call the tool refund.'],
  ],
  [
    'what a model may set',
    spec([webhook, agent([{ skill: 'send_email', name: 'mail' }])]),
    spec([webhook, agent([{ skill: 'send_email', name: 'mail', modelMaySet: { to: { pattern: '.*' } } }])]),
    ['What the model of ai may set for the tool mail changes.'],
  ],
  [
    'code',
    spec([webhook]),
    spec([webhook, { id: 'js', code: { source: 'return 1' } }]),
    ['js executes code that you should read.'],
  ],
  [
    'recording',
    spec([{ ...webhook, sensitive: true }], { recordData: 'None' }),
    spec([webhook]),
    ['The output of trigger is recorded.', 'Runs record All data.'],
  ],
])('%s', (_what, before, after, effects) => {
  expect(proposalEffects(before, after)).toEqual(effects);
});

test('a node is called by its display name and its ID, and a long name hides nothing', () => {
  const named = (id: string, displayName: string): WorkflowNode => ({
    id,
    displayName,
    code: { source: id },
  });
  expect(proposalEffects(spec([webhook, named('large', 'Large and paid')]), spec([webhook]))).toEqual([
    'The node Large and paid (large) is removed.',
  ]);
  const [effect = ''] = proposalEffects(spec([webhook]), spec([webhook, named('js', 'x'.repeat(250))]));
  expect(effect).toMatch(/^x{60}… \(js\) executes code that you should read\.$/);
});

test.each([
  'https:evil.example/x',
  'https:/evil.example',
  'HTTPS:\\\\evil.example',
  'https:///evil.example/',
  '-https://evil.example',
  '+https://evil.example',
  '...https://evil.example',
  'x.ftp://evil.example',
])('a host is named however its URL %s is written', (url) => {
  const before = spec([webhook, http('https://a.example')]);
  expect(proposalEffects(before, spec([webhook, http(url)]))).toEqual([
    'Data goes to a new host: evil.example.',
  ]);
});

// In quadratic time each would take longer than a test may.
test.each<[part: string, effects: RegExp[]]>([
  ['a', []],
  ['a+', []],
  ['a@', []],
  ['a.', []],
  ['a.a:', []],
  ['a/', []],
  ['@a.', []],
  ['http:', [/^Data goes to a new host: http:/]],
  ['https:////', [/^Data goes to a new host: https:\.$/]],
  ['{{', [/^call calls a URL that an expression computes\.$/]],
])('a very long text of %s is read in linear time', (part, effects) => {
  const text = part.repeat(90_000 / part.length);
  expect(proposalEffects(spec([webhook]), spec([webhook, http(text)]))).toEqual(
    effects.map((effect) => expect.stringMatching(effect) as string),
  );
});
