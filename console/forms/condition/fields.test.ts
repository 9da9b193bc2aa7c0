/** The fields that a condition can be chosen from. */
import { expect, test } from 'vitest';
import { sourceOf, type Sources } from '../source.ts';
import { fieldsOf, meantBy, otherField, typedField } from './fields.ts';

const order = {
  total: 250,
  customer: { email: 'ada@example.com' },
  items: [{ qty: 2 }, { qty: 3 }],
  paid: false,
};
const sources: Sources = {
  nodes: [
    sourceOf(
      { id: 'trigger', webhook: { path: 'a' } },
      'webhook',
      { text_content: '', data_content: order },
      false,
    ),
    sourceOf({ id: 'ask', displayName: 'Ask', code: { source: '' } }, 'code', undefined, false),
  ],
};

test('the fields of the nearest node come first, with types and last values where they are known', () => {
  const fields = fieldsOf(sources);
  expect(fields.map(({ node, label, type, sample }) => [node, label, type, sample])).toEqual([
    ['Ask', 'data_content', undefined, ''],
    ['Ask', 'text_content', undefined, ''],
    ['trigger', 'total', 'number', '250'],
    ['trigger', 'customer', 'object', ''],
    ['trigger', 'customer.email', 'text', 'ada@example.com'],
    ['trigger', 'items', 'list', ''],
    ['trigger', 'items[0]', 'object', ''],
    ['trigger', 'items[0].qty', 'number', '2'],
    ['trigger', 'paid', 'boolean', 'false'],
    ['trigger', 'text_content', 'text', ''],
  ]);
  expect(fields[4]?.cel).toBe('nodes.trigger.data_content.customer.email');
});

test('a node with very many fields offers a bounded number of them', () => {
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`f${at}`, at]));
  const node = sourceOf({ id: 'a', manual: {} }, 'manual', { data_content: wide }, false);
  expect(fieldsOf({ nodes: [node] })).toHaveLength(100);
});

test('a field that no output has keeps its name', () => {
  expect(otherField(['nodes', 'gone', 'data_content', 'a b'], sources)).toMatchObject({
    node: 'gone',
    label: "['a b']",
  });
  expect(otherField(['vars', 'limit'], sources)).toMatchObject({ node: 'Other', label: 'vars.limit' });
});

test.each([
  ['total', 'nodes.ask.data_content.total'],
  ['customer.items[0].name', 'nodes.ask.data_content.customer.items[0].name'],
  // As options of a node without outputs are shown.
  ['data_content.total', 'nodes.ask.data_content.total'],
  ['data_content', 'nodes.ask.data_content'],
  ['text_content', 'nodes.ask.text_content'],
  ['two words', undefined],
  ['.a', undefined],
  ['', undefined],
])('the typed name "%s" is the field %s of the nearest node', (text, cel) => {
  expect(typedField(text, sources)[0]?.cel).toBe(cel);
});

test.each([
  ['$json.total', ['total']],
  ['body.total', ['total', 'body.total']],
  ['$json.body.customer.email', ['customer.email', 'body.customer.email']],
  ['body', ['body']],
  ['$json', []],
])('what an author of n8n types, "%s", is the field %j of a webhook', (text, labels) => {
  const of: Sources = { nodes: sources.nodes.slice(0, 1) };
  expect(typedField(text, of).map(({ label }) => label)).toEqual(labels);
});

test.each([
  ['{{ $json.total }}', 'nodes.ask.data_content.total'],
  ["{{ $('trigger').data_content.customer.email }}", 'nodes.trigger.data_content.customer.email'],
  ["$('trigger').text_content", 'nodes.trigger.text_content'],
  ["{{ $('trigger').item.json.total }}", 'nodes.trigger.data_content.total'],
  ["{{ $('trigger').first().json.body.total }}", 'nodes.trigger.data_content.total'],
  ['{{$previous.data_content.items[0].qty}}', 'nodes.ask.data_content.items[0].qty'],
  ['nodes.trigger.data_content.total', 'nodes.trigger.data_content.total'],
  // No node has this name.
  ['nodes.gone.total', 'nodes.ask.data_content.nodes.gone.total'],
  ["{{ $('gone').data_content.total }}", undefined],
  ["{{ $('no id').item.json.total }}", undefined],
  ['{{ total + 1 }}', undefined],
  ['total: {{ $json.total }}', undefined],
])('the pasted expression %s is the field %s', (text, cel) => {
  expect(typedField(text, sources)[0]?.cel).toBe(cel);
});

test('a field of the body that is named body is one', () => {
  const output = { text_content: '', data_content: { body: { total: 3 } } };
  const of = { nodes: [sourceOf({ id: 'trigger', webhook: { path: 'a' } }, 'webhook', output, false)] };
  expect(typedField('body.total', of).map(({ label }) => label)).toEqual(['body.total']);
});

test('the node before is the nearest one, also among groups around it', () => {
  const [trigger] = sources.nodes;
  const inGroup: Sources = { ...sources, ...(trigger && { previous: trigger }) };
  expect(fieldsOf(inGroup)[0]?.node).toBe('trigger');
  expect(typedField('total', inGroup)[0]?.cel).toBe('nodes.trigger.data_content.total');
});

test.each([
  // The beginning of a name is not taken for the whole name.
  ['tot', 'nodes.trigger.data_content.total'],
  ['ema', 'nodes.trigger.data_content.customer.email'],
  ['total', 'nodes.trigger.data_content.total'],
  ['customer', 'nodes.trigger.data_content.customer'],
  ['discount', 'nodes.trigger.data_content.discount'],
])('Enter after %s chooses %s', (text, cel) => {
  const of: Sources = { nodes: sources.nodes.slice(0, 1) };
  expect(meantBy(text, fieldsOf(of), typedField(text, of)[0])).toBe(cel);
});

test('what is typed for a node without an output is not taken from another node', () => {
  expect(meantBy('tot', fieldsOf(sources), typedField('tot', sources)[0])).toBe('nodes.ask.data_content.tot');
});

test('an agent offers the fields of the schema of its answer', () => {
  const outputSchema = {
    type: 'object',
    properties: {
      category: { type: 'string' },
      lines: { type: 'array', items: { type: 'object', properties: { price: { type: 'number' } } } },
    },
  };
  const agent = (more: object) =>
    fieldsOf({
      nodes: [
        sourceOf(
          { id: 'ask', agent: { credential: 'c', model: 'm', prompt: 'p', ...more } },
          'agent',
          undefined,
          false,
        ),
      ],
    }).map(({ label }) => label);
  expect(agent({ outputSchema })).toEqual(expect.arrayContaining(['json.category', 'json.lines[0].price']));
  // Only such an answer is parsed.
  expect(agent({}).filter((label) => label.startsWith('json'))).toEqual([]);
});
