import { expect, test } from 'vitest';
import { TRIGGER_KINDS } from '../../api/trigger.ts';
import { workflowSpec } from '../../api/workflow.ts';
import { filledNeeds, startingSpec, withCredentials, type KnownCredential } from './create.ts';

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
  { name: 'gpt-mini', kinds: ['openai'], what: 'a model' },
  { name: 'mail', kinds: ['smtp'], what: 'mail' },
];

test('credentials of a template are found by name first, then by kind', () => {
  const both = [...credentials, { name: 'gpt-mini', kind: 'openai' }];
  expect(filledNeeds(needs, credentials).map(({ found }) => found)).toEqual(['gpt', undefined]);
  expect(filledNeeds(needs, both)[0]?.found).toBe('gpt-mini');
  expect(filledNeeds(needs, [{ name: 'mail', kind: 'http' }])[1]).not.toHaveProperty('found');
});

test('found credentials are inserted, and missing ones keep their name', () => {
  const agent = { credential: 'gpt-mini', model: 'm', prompt: 'p' };
  const skill = { name: 'send_email', credential: 'mail' };
  const spec = {
    active: false,
    nodes: [
      { id: 't', manual: {} },
      { id: 'a', agent },
      { id: 'm', skill },
    ],
  };
  expect(withCredentials(spec, filledNeeds(needs, credentials)).nodes).toEqual([
    { id: 't', manual: {} },
    { id: 'a', agent: { ...agent, credential: 'gpt' } },
    { id: 'm', skill },
  ]);
});
