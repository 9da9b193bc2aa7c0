/** The import takes any input: what it makes passes the checks. */
import { expect, test } from 'vitest';
import { mutated, randoms } from '../../test/support/n8n/mutations.ts';
import { ALL, exported, node } from '../../test/support/n8n/workflows.ts';
import { problemsOf } from './workflow/check.ts';
import { type Imported, convertN8n } from './convert.ts';

const problemsIn = ({ documents }: Imported) =>
  documents.flatMap((document) => (document.kind === 'Workflow' ? problemsOf(document.spec) : []));

test.each<[what: string, json: unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a number', 5],
  ['a text', 'workflow'],
  ['an empty object', {}],
  ['a list of numbers', [1, 2]],
  ['nodes that are no list', { nodes: {} }],
])('%s is no workflow, and the report says so', (_what, json) => {
  expect(convertN8n(json)).toMatchObject({
    documents: [],
    report: { problem: expect.stringContaining('no n8n workflow') },
  });
});

const hostile: [what: string, json: unknown][] = [
  ['no nodes', { nodes: [] }],
  ['invalid nodes', { nodes: [null, 1, 'x', [], { name: 5 }, {}] }],
  [
    'names of members that every object has',
    exported(
      'x',
      [
        node('__proto__', 'manualTrigger'),
        node(
          'constructor',
          'set',
          JSON.parse('{"values":{"string":[{"name":"__proto__","value":"={{ $json.__proto__ }}"}]}}'),
        ),
        node('toString', 'noOp'),
      ],
      [
        ['__proto__', 'constructor'],
        ['constructor', 'toString'],
      ],
    ),
  ],
  [
    'connections to missing nodes',
    {
      nodes: [node('A', 'manualTrigger')],
      connections: { A: { main: [[{ node: 'B', index: -4 }, null, 7], null] }, C: 5 },
    },
  ],
  [
    'a node that leads to itself',
    exported(
      'x',
      [node('A', 'manualTrigger'), node('B', 'set')],
      [
        ['A', 'B'],
        ['B', 'B'],
      ],
    ),
  ],
  [
    'a cycle without a trigger',
    exported(
      'x',
      [node('A', 'set'), node('B', 'set')],
      [
        ['A', 'B'],
        ['B', 'A'],
      ],
    ),
  ],
  [
    'loops in loops without an end',
    exported(
      'x',
      [
        node('A', 'manualTrigger'),
        ...['L', 'M', 'N', 'O', 'P'].map((name) => node(name, 'splitInBatches', {}, { typeVersion: 3 })),
      ],
      [
        ['A', 'L'],
        ['L', 'M', 1],
        ['M', 'N', 1],
        ['N', 'O', 1],
        ['O', 'P', 1],
        ['P', 'O'],
        ['O', 'N'],
        ['N', 'M'],
        ['M', 'L'],
        ['P', 'P', 1],
      ],
    ),
  ],
  [
    'two nodes of one name',
    { nodes: [node('A', 'manualTrigger'), node('A', 'set'), node('A', 'noOp')], connections: {} },
  ],
  [
    '5 MB of code',
    exported(
      'x',
      [
        node('A', 'manualTrigger'),
        node(
          'B',
          'code',
          { jsCode: `return [];${'/'.repeat(2)}${'x'.repeat(5_000_000)}` },
          { typeVersion: 2 },
        ),
      ],
      [['A', 'B']],
    ),
  ],
  [
    'code that closes its function',
    exported(
      'x',
      [node('A', 'manualTrigger'), node('B', 'code', { jsCode: 'return items; } { ' }, { typeVersion: 2 })],
      [['A', 'B']],
    ),
  ],
  ['names without letters', exported('///', [node('🚀', 'manualTrigger'), node('…', 'noOp')], [['🚀', '…']])],
  [
    '200 nodes',
    exported(
      'x',
      [node('A', 'manualTrigger'), ...Array.from({ length: 200 }, (_, at) => node(`N${at}`, 'noOp'))],
      Array.from({ length: 200 }, (_, at): [string, string] => [at === 0 ? 'A' : `N${at - 1}`, `N${at}`]),
    ),
  ],
  [
    'references in texts',
    exported(
      'x',
      [
        node('A', 'manualTrigger'),
        node(
          'B',
          'httpRequest',
          { url: "https://example.com/{{ $('A').x }}", method: 'GET' },
          { typeVersion: 4 },
        ),
      ],
      [['A', 'B']],
    ),
  ],
  [
    'a private address',
    exported(
      'x',
      [
        node('A', 'manualTrigger'),
        node('B', 'httpRequest', { url: 'http://localhost:5678/' }, { typeVersion: 4 }),
      ],
      [['A', 'B']],
    ),
  ],
];

test.each(hostile)('an export with %s gives documents that the checks admit', (_what, json) => {
  const imported = convertN8n(json);
  expect(imported.report.problem).toBeUndefined();
  expect(problemsIn(imported)).toEqual([]);
});

test('mutations of workflows give documents that the checks admit', () => {
  const random = randoms(7);
  const all = Object.values(ALL);
  const problems = Array.from({ length: 100 }, (_, at) => {
    const imported = convertN8n(mutated(all[at % all.length], random));
    return problemsIn(imported).map(({ message }) => message);
  });
  expect(problems.flat()).toEqual([]);
});
