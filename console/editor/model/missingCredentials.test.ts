/** Which nodes of a draft name a credential that the project does not have. */
import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { NOT_CHOSEN } from '../../credentials/kindLabels.ts';
import { isNeeded, missingCredentials } from './missingCredentials.ts';

const names = new Set(['llm', 'smtp']);
const trigger: WorkflowNode = { id: 'trigger', manual: {} };
const mail = (credential: string): WorkflowNode => ({
  id: 'mail',
  skill: { name: 'send_email', credential, parameters: {} },
});
const agent = (credential: string): WorkflowNode => ({
  id: 'ask',
  agent: {
    credential,
    model: 'm',
    prompt: 'p',
    tools: [
      { skill: 'send_email', credential: 'smtp' },
      { skill: 'send_email', credential: 'gone' },
    ],
    fallback: [{ credential: 'other', model: 'n' }],
  },
});
const specOf = (...nodes: unknown[]): WorkflowSpec => ({ active: true, nodes: nodes as WorkflowNode[] });
const gone = (name: string) =>
  `Credential ${name} does not exist in this project. Create it or choose another one.`;

test.each<[string, WorkflowSpec, [node: string, field: string, message: string][]]>([
  ['whose credential exists', specOf(trigger, mail('smtp')), []],
  ['without a credential', specOf(trigger, { id: 'get', skill: { name: 'http_request' } }), []],
  ['whose credential is not entered yet', specOf(trigger, mail('')), []],
  [
    'whose credential is missing',
    specOf(trigger, mail('gone')),
    [['mail', 'skill.credential', gone('gone')]],
  ],
  [
    'whose trigger lacks its credential',
    specOf({ id: 'trigger', bot: { credential: 'gone' } }),
    [['trigger', 'bot.credential', gone('gone')]],
  ],
  [
    'whose trigger has no credential yet',
    specOf({ id: 'trigger', mail: { credential: NOT_CHOSEN } }),
    [['trigger', 'mail.credential', 'Choose a credential, or create one.']],
  ],
  [
    'whose agent, tools and other models lack theirs',
    specOf(trigger, agent('gone')),
    [
      ['ask', 'agent.credential', gone('gone')],
      ['ask', 'agent.tools[1].credential', gone('gone')],
      ['ask', 'agent.fallback[0].credential', gone('other')],
    ],
  ],
  ['whose disabled node lacks its credential', specOf(trigger, { ...mail('gone'), disabled: true }), []],
  [
    'whose node in a disabled group lacks its credential',
    specOf(trigger, { id: 'g', group: {}, disabled: true }, { ...mail('gone'), within: 'g' }),
    [],
  ],
  [
    'with values of wrong types',
    specOf(
      { id: 'trigger', manual: null },
      { id: 'a', agent: { credential: {}, tools: [null, 'x', { credential: 7 }], fallback: { length: 1 } } },
      { id: 'b', skill: 'x' },
    ),
    [],
  ],
])('the problems of a draft %s are at the fields that name missing credentials', (_what, spec, marks) => {
  const found = missingCredentials(spec, names);
  expect(found).toEqual(
    marks.map(([node, field, message]) => ({
      place: { node },
      problem: { field, message, source: 'credential' },
    })),
  );
});

test('nodes that do not change keep their problems, so that they are not redrawn', () => {
  const node = mail('gone');
  const [before] = missingCredentials(specOf(trigger, node), names);
  const [after] = missingCredentials(specOf(trigger, node, agent('llm')), names);
  expect(after).toBe(before);
});

test.each([
  ['skill.credential', true],
  ['agent.credential', true],
  ['agent.tools[1].credential', false],
  ['agent.fallback[0].credential', false],
])('whether a node cannot do without %s: %s', (field, needed) => {
  expect(isNeeded(field)).toBe(needed);
});
