import { expect, test } from 'vitest';
import { readWatches } from './watches.ts';

const PATH = '/apis/windlass.dev/v1alpha1/namespaces/shop/workflows';
const many = (count: number) => Array.from({ length: count }, (_, at) => ({ id: `w${at}`, path: PATH }));

test('a watch has its path and parameters, our duration, and objects or tables', () => {
  const query = { resourceVersion: '7', fieldSelector: 'metadata.name=x', labelSelector: '' };
  expect(readWatches({ watches: [{ id: 'w1', path: PATH, query, table: true }, ...many(1)] }, 600)).toEqual([
    {
      id: 'w1',
      path: `${PATH}?resourceVersion=7&fieldSelector=metadata.name%3Dx&watch=true&allowWatchBookmarks=true&timeoutSeconds=600`,
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    },
    {
      id: 'w0',
      path: `${PATH}?watch=true&allowWatchBookmarks=true&timeoutSeconds=600`,
      accept: 'application/json',
    },
  ]);
  expect(readWatches({ watches: many(32) }, 600)).toHaveLength(32);
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['a list', []],
  ['no watches', {}],
  ['watches that are no number', { watches: 'w' }],
  ['an empty list', { watches: [] }],
  ['33 watches', { watches: many(33) }],
  ['one id twice', { watches: [...many(1), ...many(1)] }],
  ['no id', { watches: [{ path: PATH }] }],
  ['an empty id', { watches: [{ id: '', path: PATH }] }],
  ['an id that would end the line', { watches: [{ id: '"\n', path: PATH }] }],
  ['an id that is too long', { watches: [{ id: 'x'.repeat(65), path: PATH }] }],
  ['an id that is a number', { watches: [{ id: 1, path: PATH }] }],
  ['no path', { watches: [{ id: 'a' }] }],
  ['a parameter that is no text', { watches: [{ id: 'a', path: PATH, query: { resourceVersion: 7 } }] }],
  ['a parameter that is too long', { watches: [{ id: 'a', path: PATH, query: { x: 'x'.repeat(4_097) } }] }],
  ['a table that is neither', { watches: [{ id: 'a', path: PATH, table: 'yes' }] }],
  ['a word that is unknown', { watches: many(1), more: 1 }],
  ['a word that is unknown, of a watch', { watches: [{ id: 'a', path: PATH, verb: 'list' }] }],
])('%s: the watches are invalid', (_what, body) => {
  expect(readWatches(body, 600)).toBe('bad-watches');
});

test.each([
  [`${PATH}/orders`, {}],
  [`${PATH}?watch=true`, {}],
  [`${PATH}/../credentials`, {}],
  ['/api/v1/namespaces/shop/secrets', {}],
  ['/api/v1/namespaces', {}],
  ['/api/v1/namespaces/shop/pods', {}],
  ['/apis/windlass.dev/v1alpha1/workflows', {}],
  [PATH, { limit: '5' }],
  [PATH, { timeoutSeconds: '86400' }],
  [PATH, { watch: 'false' }],
  [PATH, { unknown: '1' }],
])('%s with %j is refused', (path, query) => {
  const watches = [{ id: 'a', path, query }, ...many(1)];
  expect(readWatches({ watches }, 600)).toBe('kube-path-refused');
});
