import { expect, test } from 'vitest';
import { renameInCel, renameInEdge, renameInNode, renameInText } from './references.ts';

const renaming = new Map([['old', 'fresh']]);

test.each([
  ["{{ $('old').text_content }}", "{{ $('fresh').text_content }}"],
  ["{{ $url('old') }}", "{{ $url('fresh') }}"],
  ['Hi {{$("old").data_content.name}}!', 'Hi {{$("fresh").data_content.name}}!'],
  ["{{ $( 'old' ).text_content }}", "{{ $( 'fresh' ).text_content }}"],
  ["{{ $('older').text_content }}", "{{ $('older').text_content }}"],
  ["$('old') is no reference", "$('old') is no reference"],
  ["{{ $('other').data_content.old }}", "{{ $('other').data_content.old }}"],
  [
    "{{ $('old').text_content }} {{ $('old').error }}",
    "{{ $('fresh').text_content }} {{ $('fresh').error }}",
  ],
])('the text %s becomes %s', (text, expected) => {
  expect(renameInText(text, renaming)).toBe(expected);
});

test.each([
  ['nodes.old.data_content.x > 1', 'nodes.fresh.data_content.x > 1'],
  ['nodes["old"].text_content', 'nodes["fresh"].text_content'],
  ["nodes['old'].text_content == 'nodes.old'", "nodes['fresh'].text_content == 'nodes.old'"],
  ['nodes.older.text_content', 'nodes.older.text_content'],
  ['mynodes.old', 'mynodes.old'],
  ['item.nodes.old', 'item.nodes.old'],
  [String.raw`"\"nodes.old" + nodes.old.text_content`, String.raw`"\"nodes.old" + nodes.fresh.text_content`],
  ['size(nodes . old . data_content)', 'size(nodes . fresh . data_content)'],
])('the condition %s becomes %s', (source, expected) => {
  expect(renameInCel(source, renaming)).toBe(expected);
});

test('all texts of a node are renamed, and the values of set as CEL', () => {
  expect(
    renameInNode(
      { id: 'old', skill: { name: 'set', parameters: { values: { a: 'nodes.old.text_content' } } } },
      renaming,
    ),
  ).toEqual({ id: 'old', skill: { name: 'set', parameters: { values: { a: 'nodes.fresh.text_content' } } } });
  expect(
    renameInNode(
      { id: 'b', response: { body: [{ deep: "{{ $('old').text_content }}" }] }, timeout: '5s' },
      renaming,
    ),
  ).toEqual({ id: 'b', response: { body: [{ deep: "{{ $('fresh').text_content }}" }] }, timeout: '5s' });
});

test('a node without references keeps its object', () => {
  const node = { id: 'b', response: { body: { a: 1 } } };
  expect(renameInNode(node, renaming)).toBe(node);
});

test('an edge keeps its other fields', () => {
  expect(
    renameInEdge({ from: 'old', to: 'b', when: 'nodes.old.error != null', after: 'Failure' }, renaming),
  ).toEqual({
    from: 'fresh',
    to: 'b',
    when: 'nodes.fresh.error != null',
    after: 'Failure',
  });
});

test('a group and the condition of repeat are renamed', () => {
  const node = {
    id: 'a',
    group: {},
    within: 'old',
    repeat: { until: 'nodes.old.item > 1', limit: 2, initial: "{{ $('old').item }}" },
  };
  expect(renameInNode(node, renaming)).toEqual({
    ...node,
    within: 'fresh',
    repeat: { until: 'nodes.fresh.item > 1', limit: 2, initial: "{{ $('fresh').item }}" },
  });
});
