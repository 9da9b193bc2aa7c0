/** What imported code computes, in the sandbox of code nodes. */
import { expect, test } from 'vitest';
import { startSandbox } from '../../../test/support/nodes/codeSandbox.ts';
import { exported, node } from '../../../test/support/n8n/workflows.ts';
import { convertN8n } from '../convert.ts';

const { run } = startSandbox();

/** The result of the node `Step` for the items of a Code node before it. */
async function resultOf(
  type: string,
  parameters: object,
  items: object[],
  typeVersion = 1,
): Promise<unknown> {
  const json = exported(
    'x',
    [
      node('Start', 'manualTrigger'),
      node('Items', 'code', { jsCode: 'return items;' }, { typeVersion: 2 }),
      node('Step', type, parameters, { typeVersion }),
    ],
    [
      ['Start', 'Items'],
      ['Items', 'Step'],
    ],
  );
  const workflow = convertN8n(json).documents.find(({ kind }) => kind === 'Workflow');
  const nodes = workflow?.kind === 'Workflow' ? workflow.spec.nodes : [];
  const source = nodes.find(({ id }) => id === 'step')?.code?.source ?? '';
  const outcome = await run(source, {
    nodes: [['items', JSON.stringify({ text_content: '', data_content: items })]],
    values: [['run', JSON.stringify({ id: 'r', workflow: 'x', timeZone: 'UTC' })]],
  });
  return 'json' in outcome ? JSON.parse(outcome.json) : outcome;
}

/** The result of a code node for the outputs of nodes before it. */
async function executed(
  json: unknown,
  id: string,
  outputs: readonly (readonly [string, unknown])[],
): Promise<unknown> {
  const workflow = convertN8n(json).documents.find(({ kind }) => kind === 'Workflow');
  const nodes = workflow?.kind === 'Workflow' ? workflow.spec.nodes : [];
  const outcome = await run(nodes.find((each) => each.id === id)?.code?.source ?? '', {
    nodes: outputs.map(([name, data]) => [name, JSON.stringify({ text_content: '', data_content: data })]),
    values: [['run', JSON.stringify({ id: 'r', workflow: 'x', timeZone: 'UTC' })]],
  });
  return 'json' in outcome ? JSON.parse(outcome.json) : outcome;
}

const people = [
  { name: 'Ada', age: 36, tags: ['a', 'b'] },
  { name: 'Bob', age: 5, tags: [] },
];

test.each<[what: string, type: string, parameters: object, version: number, result: unknown]>([
  [
    'Set adds a field',
    'set',
    {
      includeOtherFields: true,
      assignments: { assignments: [{ name: 'deep.old', type: 'boolean', value: '={{ $json.age > 18 }}' }] },
    },
    3.4,
    [
      { ...people[0], deep: { old: true } },
      { ...people[1], deep: { old: false } },
    ],
  ],
  [
    'IF divides the items',
    'if',
    {
      conditions: {
        combinator: 'and',
        conditions: [
          { leftValue: '={{ $json.age }}', rightValue: 18, operator: { type: 'number', operation: 'gt' } },
        ],
      },
    },
    2,
    [[people[0]], [people[1]]],
  ],
  ['Split Out makes items', 'splitOut', { fieldToSplitOut: 'tags' }, 1, [{ tags: 'a' }, { tags: 'b' }]],
  [
    'Aggregate makes one item',
    'aggregate',
    { fieldsToAggregate: { fieldToAggregate: [{ fieldToAggregate: 'name' }] } },
    1,
    { name: ['Ada', 'Bob'] },
  ],
  [
    'Sort orders items',
    'sort',
    { sortFieldsUi: { sortField: [{ fieldName: 'age' }] } },
    1,
    [people[1], people[0]],
  ],
  ['Limit keeps the first', 'limit', { maxItems: 1 }, 1, [people[0]]],
  [
    'Code sees items',
    'code',
    {
      jsCode:
        "return $input.all().map((item) => ({ json: { n: item.json.name.length, first: $('Items').first().json.name } }));",
    },
    2,
    [
      { n: 3, first: 'Ada' },
      { n: 3, first: 'Ada' },
    ],
  ],
  [
    'Summarize counts and adds',
    'summarize',
    { fieldsToSummarize: { values: [{ aggregation: 'sum', field: 'age' }] } },
    1,
    { sum_age: 41 },
  ],
  [
    'HTML reads elements',
    'html',
    {
      operation: 'extractHtmlContent',
      dataPropertyName: 'name',
      extractionValues: { values: [{ key: 'text', cssSelector: 'p' }] },
    },
    1.2,
    [{}, {}],
  ],
])('%s', async (_what, type, parameters, version, result) => {
  expect(await resultOf(type, parameters, people, version)).toEqual(result);
});

test('dates are added to, formatted and rounded in the calendar', async () => {
  const value =
    "={{ DateTime.fromISO('2026-01-31T10:00:00Z').plus({ months: 1 }).toFormat('yyyy-MM-dd') }} {{ '2026-05-06'.toDateTime().startOf('month').toISODate() }}";
  expect(
    await resultOf(
      'set',
      { assignments: { assignments: [{ name: 'a', type: 'string', value }] } },
      [{}, {}],
      3.4,
    ),
  ).toEqual([{ a: '2026-02-28 2026-05-01' }, { a: '2026-02-28 2026-05-01' }]);
});

test('an item of another node is the one at the same position', async () => {
  const parameters = {
    assignments: { assignments: [{ name: 'a', type: 'string', value: "={{ $('Items').item.json.name }}" }] },
  };
  expect(await resultOf('set', parameters, people, 3.4)).toEqual([{ a: 'Ada' }, { a: 'Bob' }]);
});

test('an item of a node before a filter is the one that it comes from', async () => {
  const json = exported(
    'x',
    [
      node('Start', 'manualTrigger'),
      node('Items', 'code', { jsCode: 'return items;' }, { typeVersion: 2 }),
      node('Keep', 'filter', {
        conditions: { number: [{ value1: '={{ $json.age }}', operation: 'smaller', value2: 18 }] },
      }),
      node('Step', 'set', {
        keepOnlySet: true,
        values: { string: [{ name: 'a', value: "={{ $('Items').item.json.name }}" }] },
      }),
    ],
    [
      ['Start', 'Items'],
      ['Items', 'Keep'],
      ['Keep', 'Step'],
    ],
  );
  const outputs: [string, unknown][] = [['items', people]];
  for (const id of ['keep', 'step']) outputs.push([id, await executed(json, id, outputs)]);
  expect(outputs.at(-1)?.[1]).toEqual([{ a: 'Bob' }]);
});

test.each<[what: string, type: string, parameters: object, items: object[], result: unknown]>([
  [
    'XML becomes an object',
    'xml',
    {},
    [{ data: '<a x="1"><b>2</b><b>3 &amp; 4</b><c/></a>' }],
    [{ a: { x: '1', b: ['2', '3 & 4'], c: '' } }],
  ],
  [
    'SHA-256 of a text',
    'crypto',
    { action: 'hash', type: 'SHA256', value: 'abc', dataPropertyName: 'h' },
    [{}],
    [{ h: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' }],
  ],
  [
    'HMAC with SHA-256',
    'crypto',
    {
      action: 'hmac',
      type: 'SHA256',
      value: 'what do ya want for nothing?',
      secret: 'Jefe',
      dataPropertyName: 'h',
    },
    [{}],
    [{ h: '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843' }],
  ],
])('%s', async (_what, type, parameters, items, result) => {
  expect(await resultOf(type, parameters, items)).toEqual(result);
});

test('the entries of a feed become items', async () => {
  const json = exported(
    'x',
    [
      node('Start', 'manualTrigger'),
      node('Feed', 'rssFeedRead', { url: 'https://example.com/feed' }),
      node('Step', 'set', {
        keepOnlySet: true,
        values: { string: [{ name: 't', value: '={{ $json.title }}' }] },
      }),
    ],
    [
      ['Start', 'Feed'],
      ['Feed', 'Step'],
    ],
  );
  const body =
    '<rss><channel><item><title><![CDATA[A & B]]></title></item><item><title>C</title></item></channel></rss>';
  expect(await executed(json, 'step', [['feed', { status: 200, headers: {}, body }]])).toEqual([
    { t: 'A & B' },
    { t: 'C' },
  ]);
});
