import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../api/workflow.ts';
import { completed, completionsOf } from './completions.ts';

const nodes: WorkflowNode[] = [
  { id: 'trigger', webhook: { path: 'orders', testData: { data_content: { mail: 'ada@example.com' } } } },
  {
    id: 'rows',
    skill: {
      name: 'append_row',
      parameters: { spreadsheet_id: 'orders', values: ['orders', 'to team@example.com'] },
    },
  },
  {
    id: 'mail',
    skill: {
      name: 'send_email',
      parameters: { to: 'team@example.com, boss@example.com', body: 'https://api.example.com/a?b=1' },
    },
  },
  {
    id: 'other',
    skill: { name: 'read_rows', parameters: { spreadsheet_id: "{{ $('trigger').text_content }}" } },
  },
];

test('addresses, hosts and IDs are to be completed, once each, and not those of test data or of events', () => {
  expect(completionsOf({ nodes })).toEqual([
    { value: 'orders', label: 'Spreadsheet ID' },
    { value: 'team@example.com', label: 'Email address: team' },
    { value: 'boss@example.com', label: 'Email address: boss' },
    { value: 'https://api.example.com', label: 'Address of the API' },
  ]);
});

test.each<[what: string, answers: [string, string][], found: string[]]>([
  ['nothing', [], ['orders', 'team@example.com', 'boss@example.com', 'https://api.example.com']],
  [
    'only spaces',
    [['orders', '  ']],
    ['orders', 'team@example.com', 'boss@example.com', 'https://api.example.com'],
  ],
  [
    'an address and an ID',
    [
      ['team@example.com', ' all@acme.test '],
      ['orders', '1aB'],
    ],
    ['1aB', 'boss@example.com', 'https://api.example.com'],
  ],
])('after %s is answered the rest is left to complete', (_what, answers, found) => {
  const spec = completed({ nodes }, new Map(answers));
  expect(completionsOf(spec).map(({ value }) => value)).toEqual(found);
});

test('an answer is taken as it is, also with characters of replacement patterns', () => {
  const answers = new Map([
    ['team@example.com', "$& $' $1@acme.test"],
    ['__proto__', 'x'],
  ]);
  const spec = completed({ nodes }, answers);
  expect(spec.nodes[2]?.skill?.parameters?.['to']).toBe("$& $' $1@acme.test, boss@example.com");
  expect(spec.nodes[1]?.skill?.parameters?.['values']).toEqual(['orders', "to $& $' $1@acme.test"]);
  expect(spec.nodes[0]).toEqual(nodes[0]);
});
