import { expect, test } from 'vitest';
import { panelSearch } from './panelSearch.ts';

test.each([
  [{ node: 'mail' }, { node: 'mail' }],
  [{ node: 'mail', isNew: true as const }, { node: 'mail' }],
  [{ setting: '' }, { settings: true }],
  [{ setting: 'history.ttl' }, { settings: true }],
  [{ edge: { from: 'a', to: 'b' } }, {}],
  [undefined, {}],
])('the panel %j has the parameters %j', (panel, search) => {
  expect(panelSearch(panel)).toEqual(search);
});
