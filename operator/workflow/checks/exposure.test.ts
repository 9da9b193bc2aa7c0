import { expect, test } from 'vitest';
import type { AgentTool } from '../../../api/step.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { exposureNotes } from './exposure.ts';

const mail = { id: 'mail', mail: { credential: 'inbox' } };
const manual = { id: 'start', manual: {} };
const find: AgentTool = {
  name: 'find',
  skill: 'http_request',
  credential: 'shop',
  parameters: { url: 'https://api.shop.example/orders' },
};
const page: AgentTool = { ...find, name: 'page', credential: undefined };
const send = (to: string, extra: Partial<AgentTool> = {}): AgentTool => ({
  skill: 'send_email',
  credential: 'smtp',
  parameters: { to, subject: 's' },
  ...extra,
});
const SENDER = "{{ $('mail').data_content.from }}";

function noted(trigger: object, ...tools: AgentTool[]): boolean {
  const agent = { credential: 'llm', model: 'm', prompt: 'p', tools };
  const spec = { nodes: [trigger, { id: 'a', agent }] } as unknown as WorkflowSpec;
  return exposureNotes(spec).length > 0;
}

test.each<[sentence: string, trigger: object, tools: AgentTool[], isNoted: boolean]>([
  ['answers whoever wrote, with private data', mail, [find, send(SENDER)], true],
  ['answers whoever wrote, without private data', mail, [page, send(SENDER)], false],
  ['writes to one address', mail, [find, send('boss@shop.example')], false],
  ['writes to a variable', mail, [find, send('{{ $vars.boss }}')], false],
  [
    'writes to many that the model chooses',
    mail,
    [find, send('boss@shop.example', { modelMaySet: { cc: '*@shop.example' } })],
    true,
  ],
  ['reads no text of strangers', manual, [find, send("{{ $('start').data_content.to }}")], false],
  ['reads a page', manual, [find, page, send("{{ $('start').data_content.to }}")], true],
  [
    'requests a host that the event names',
    mail,
    [find, { ...page, parameters: { url: "https://{{ $('mail').data_content.host }}/" } }],
    true,
  ],
  [
    'requests a path that the event names',
    mail,
    [find, { ...page, parameters: { url: "https://a.example/{{ $('mail').data_content.id }}" } }],
    false,
  ],
  [
    'requests URLs of one host',
    mail,
    [find, { ...page, parameters: {}, modelMaySet: { url: 'https://a.example/*' } }],
    false,
  ],
  ['answers a public chat', { id: 'chat', chat: { access: 'Public' } }, [find], true],
  ['answers a chat with a token', { id: 'chat', chat: { access: 'Token' } }, [find], false],
  ['answers the mail', mail, [find, { skill: 'reply_email', parameters: { mail: SENDER } }], true],
])('an agent that %s', (_sentence, trigger, tools, isNoted) => {
  expect(noted(trigger, ...tools)).toBe(isNoted);
});
