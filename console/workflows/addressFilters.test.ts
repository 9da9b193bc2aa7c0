import { expect, test } from 'vitest';
import { addressFilters, withoutDefaults } from './addressFilters.ts';
import { NO_FILTER } from './items.ts';

test('the address keeps the filters that are set', () => {
  const filter = { ...NO_FILTER, text: 'paid', state: 'ready', label: 'team=billing' } as const;
  const address = withoutDefaults(filter);
  expect(address).toEqual({ text: 'paid', state: 'ready', label: 'team=billing' });
  expect({ ...NO_FILTER, ...addressFilters(address) }).toEqual(filter);
});

test('an address without filters, or with others than the list has, filters nothing', () => {
  expect(addressFilters({ new: true })).toEqual({});
  const wrong = { text: 7, state: 'Broken', trigger: 'none', active: 'all', label: '' };
  expect(addressFilters(wrong)).toEqual({});
});
