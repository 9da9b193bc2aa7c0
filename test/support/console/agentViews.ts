/** Runs of an agent with tools, and what the console shows of their conversations. */
import type { Page } from 'playwright-core';
import type { NodeStatus } from '../../../api/nodeStatus.ts';
import type { ConsoleSystem } from './consoleSystem.ts';
import type { View } from './dialogs.ts';
import { manifestOf, object } from './filledProject.ts';
import { chooseNode } from './loopViews.ts';
import { addRecord } from './records.ts';
import { openNode, openOutput, panelOf } from './steps.ts';

type Entry = NonNullable<NodeStatus['transcript']>['entries'][number];

const RUNS_OF_AGENTS = {
  succeeded: 'support-answered',
  failed: 'support-failed',
  withheld: 'support-withheld',
};

const EVENT = { text_content: 'Where is my order A-1001?', data_content: null };

/** `url`: where the tool finds orders. `prompt`: lines make the model call tools. */
export function supportWorkflow(url: string, prompt: string, spec: object = {}): object {
  const agent = {
    credential: 'model',
    model: 'demo',
    systemPrompt: 'You answer questions about orders. Find the order before you answer.',
    prompt,
    tools: [{ name: 'find_order', skill: 'http_request', parameters: { url, method: 'POST' } }],
  };
  return object('Workflow', 'support', {
    displayName: 'Support',
    nodes: [
      { id: 'trigger', manual: {} },
      { id: 'support', agent },
    ],
    ...spec,
  });
}

/** Adds the workflow and records of runs: a long conversation, one that failed, and one that is withheld. */
export async function addAgents(system: ConsoleSystem, namespace: string): Promise<void> {
  const workflow = supportWorkflow('http://127.0.0.1:9/orders', "{{ $('trigger').text_content }}");
  await system.apply(namespace, manifestOf([workflow]));
  await system.harness.waitFor(namespace, 'support', { type: 'Ready', status: 'True' }, 90_000);
  const reason = 'StepLimit';
  const message = 'the model still calls tools (find_order) in answer 10, the last one that maxSteps allows';
  const text_content = 'Your order A-1001 left our house this morning.';
  const data_content = { model: 'demo', finish_reason: 'stop', json: null };
  const shown = { transcript: { omitted: 14, entries: LONG }, output: { text_content, data_content } };
  await addRun(system, namespace, RUNS_OF_AGENTS.succeeded, { ...COUNTS, ...shown, phase: 'Succeeded' });
  const failed = { transcript: { entries: HOSTILE }, reason, message };
  await addRun(system, namespace, RUNS_OF_AGENTS.failed, { ...COUNTS, ...failed, phase: 'Failed' });
  const withheld = { truncated: true, redacted: true };
  await addRun(system, namespace, RUNS_OF_AGENTS.withheld, { ...COUNTS, ...withheld, phase: 'Succeeded' });
}

const COUNTS = { agent: { answers: 9, toolCalls: 11 }, usage: { inputTokens: 18_204, outputTokens: 1_310 } };

async function addRun(
  system: ConsoleSystem,
  namespace: string,
  name: string,
  node: Omit<NodeStatus, 'id'> & { phase: 'Succeeded' | 'Failed' },
): Promise<void> {
  const { phase, reason, message } = node;
  const times = { startTime: at(0), completionTime: at(70) };
  await addRecord(system, {
    namespace,
    name,
    workflow: 'support',
    input: EVENT,
    status: {
      phase,
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
      ...times,
      nodes: [
        { id: 'trigger', phase: 'Succeeded', startTime: at(0), completionTime: at(0), output: EVENT },
        { id: 'support', attempts: 1, ...times, ...node },
      ],
    },
  });
}

/** Records of the past would be pruned. */
const START = Date.now() - 3_600_000;
const at = (second: number) => new Date(START + second * 1_000).toISOString();
const answer = (second: number, text: string): Entry => ({
  role: 'Assistant',
  text,
  startTime: at(second),
  completionTime: at(second + 1.4),
  usage: { inputTokens: 1_200 + second, outputTokens: 84 },
});
const call = (second: number, given: string, text: string, error?: true): Entry => ({
  role: 'Tool',
  tool: 'find_order',
  arguments: given,
  text,
  startTime: at(second),
  completionTime: at(second + 0.23),
  ...(error && { error }),
});

const ORDER = JSON.stringify({
  number: 'A-1001',
  customer: { name: 'Ada', id: 12_345_678_901 },
  items: [{ name: 'lamp', quantity: 2 }],
  state: 'sent',
});
const PARAGRAPH =
  'I looked for the order under its number first, and then under the address of the customer, because the shop knows both. ';

const LONG: Entry[] = [
  { role: 'System', text: 'You answer questions about orders. Find the order before you answer.' },
  { role: 'User', text: EVENT.text_content },
  answer(1, ''),
  call(3, '{"query":{"number":"A-1001"}}', ORDER),
  call(
    3,
    '{"query":{"email":"ada@example.com"}}',
    'Timeout: the tool took longer than its timeout of 60 s',
    true,
  ),
  answer(5, PARAGRAPH.repeat(8)),
  call(7, '{"query":{"number":"A-1001","with":["items","parcels","invoices"]}}', ORDER),
  answer(9, 'One moment.'),
  call(11, '{}', 'plain text without any JSON'),
  answer(13, 'Your order A-1001 left our house this morning.\n\nIt will be with you on Friday.'),
];

/** Texts that a model or a tool may send. */
const HOSTILE: Entry[] = [
  { role: 'User', text: '<script>alert(1)</script> ![logo](http://evil.example/x.png)' },
  answer(1, `\u202Ereversed \u2066isolated <img src=x onerror=alert(1)> ${'endless'.repeat(60)}`),
  {
    role: 'Tool',
    tool: `${'long_name_'.repeat(25)}\u202E`,
    arguments: `{"text":"${'x'.repeat(900)}"}`,
    text: 'The call is wrong: there is no tool of this name; the tools are: find_order',
    error: true,
    startTime: at(3),
    completionTime: at(3),
  },
  { role: 'Tool', tool: 'find_order', arguments: '{"broken', text: '', startTime: at(3) },
];

const conversation = (page: Page) => page.getByRole('region', { name: 'Conversation', exact: true });

/** What the console shows of them, by the name of a picture. */
export function agentViewsOf(project: string): (View & { name: string })[] {
  const runPath = (run: string) => `/console/p/${project}/runs/${run}?workflow=support`;
  return [
    {
      name: 'conversation',
      what: 'the conversation of an agent',
      path: runPath(RUNS_OF_AGENTS.succeeded),
      open: async (page) => {
        await chooseNode(page, 'support');
        await conversation(page)
          .getByRole('button', { name: /^find_order/ })
          .first()
          .click();
        await conversation(page).getByRole('group', { name: 'Result of find_order' }).waitFor();
      },
    },
    {
      name: 'conversation-failed',
      what: 'the conversation of a failed agent',
      path: runPath(RUNS_OF_AGENTS.failed),
      open: async (page) => {
        await chooseNode(page, 'support');
        await conversation(page).getByRole('button', { name: 'Expand all calls' }).click();
        await conversation(page).getByText('The call is wrong').waitFor();
      },
    },
    {
      name: 'conversation-withheld',
      what: 'a conversation that is not recorded',
      path: runPath(RUNS_OF_AGENTS.withheld),
      open: async (page) => {
        await chooseNode(page, 'support');
        await conversation(page).getByText('Not recorded').waitFor();
      },
    },
    {
      name: 'conversation-editor',
      what: 'a conversation in the panel of the node',
      path: `/console/p/${project}/workflows/support?run=${RUNS_OF_AGENTS.succeeded}`,
      open: async (page) => {
        await openNode(page, 'support');
        await openOutput(page);
        await panelOf(page).getByText('14 entries left out').waitFor();
      },
    },
  ];
}
