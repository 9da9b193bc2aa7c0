import { expect, test } from 'vitest';
import { TRIGGER_KINDS } from '../../api/triggerKinds.ts';
import { workflowSpec } from '../../api/workflow.ts';
import { foundCredentials, startingSpec, withCredentials, type KnownCredential } from './create.ts';

const credentials: KnownCredential[] = [
  { name: 'google', kind: 'oauth2' },
  { name: 'inbox', kind: 'imap' },
  { name: 'gpt', kind: 'openai' },
];
const beginning = { name: 'orders', displayName: 'Orders', timeZone: 'Europe/Berlin', credentials };

test.each(TRIGGER_KINDS.map((kind) => [kind] as const))(
  'a new workflow with a %s trigger is accepted by the API',
  (trigger) => {
    for (const known of [credentials, []]) {
      const spec = startingSpec({ ...beginning, credentials: known, trigger, spreadsheetId: 'x' });
      expect(workflowSpec.safeParse(spec)).toMatchObject({ success: true });
      expect(spec.active).toBe(false);
    }
  },
);

test.each([
  ['webhook', { webhook: { path: 'orders' } }],
  ['schedule', { schedule: { cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin' } }],
  ['mail', { mail: { credential: 'inbox' } }],
  ['spreadsheet', { spreadsheet: { credential: 'google', spreadsheetId: 'x' } }],
  ['fileStorage', { fileStorage: { credential: 'google' } }],
  ['bot', { bot: { credential: 'choose-an-account' } }],
] as const)('%s starts with the name and the credentials of the project', (trigger, fields) => {
  const { nodes } = startingSpec({ ...beginning, trigger, spreadsheetId: 'x' });
  expect(nodes).toEqual([{ id: 'trigger', ...fields }]);
});

const needs = [
  { name: 'gpt-mini', kinds: ['openai'] },
  { name: 'mail', kinds: ['smtp'] },
];

test('credentials of a template are found by name first, then by kind', () => {
  const both = [...credentials, { name: 'gpt-mini', kind: 'openai' }];
  expect(foundCredentials(needs, credentials)).toEqual(new Map([['gpt-mini', 'gpt']]));
  expect(foundCredentials(needs, both).get('gpt-mini')).toBe('gpt-mini');
  expect(foundCredentials(needs, [{ name: 'mail', kind: 'http' }]).size).toBe(0);
});

test('chosen credentials are inserted, also in tools and fallbacks, and others keep their name', () => {
  const tool = { skill: 'send_email', credential: 'mail' };
  const fallback = { credential: 'gpt-mini', model: 'n' };
  const agent = { credential: 'gpt-mini', model: 'm', prompt: 'p', fallback: [fallback], tools: [tool] };
  const skill = { name: 'send_email', credential: 'other', parameters: { credential: 'mail' } };
  const spec = {
    active: false,
    nodes: [
      { id: 't', manual: {} },
      { id: 'a', agent },
      { id: 'm', skill },
    ],
  };
  const chosen = new Map([
    ['gpt-mini', 'gpt'],
    ['mail', 'post'],
  ]);
  expect(withCredentials(spec, chosen).nodes).toEqual([
    { id: 't', manual: {} },
    {
      id: 'a',
      agent: {
        ...agent,
        credential: 'gpt',
        fallback: [{ ...fallback, credential: 'gpt' }],
        tools: [{ ...tool, credential: 'post' }],
      },
    },
    { id: 'm', skill },
  ]);
});
