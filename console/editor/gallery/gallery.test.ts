/** The gallery of nodes: what a search finds, and in which order. */
import { expect, test } from 'vitest';
import type { SkillSchema } from '../../forms/schemas.ts';
import { stepOffers, TRIGGER_OFFERS, type Offer } from './offers.ts';
import { recentOffers, withUsed } from './recent.ts';
import { matchingOffers } from './search.ts';
import { SKILL_CATEGORIES } from './skillCategories.ts';

const skill = (name: string): SkillSchema => ({
  name,
  description: 'Sends modified items.',
  credentials: [],
  credentialIsOptional: false,
  effect: 'AtLeastOnce',
  parameters: {},
});
const offersOf = (names: readonly string[]) => stepOffers({ steps: {}, skills: names.map(skill) });
const STEPS = offersOf(Object.keys(SKILL_CATEGORIES));
const keysOf = (offers: readonly Offer[]) => offers.map(({ key }) => key);

test.each([
  ['gpt', 'agent'],
  ['delay', 'wait'],
  ['loop', 'forEach'],
  ['http', 'http_request'],
  ['gmail', 'send_email'],
  ['execute workflow', 'workflow'],
  ['Send E-Mail', 'send_email'],
  ['javascript', 'code'],
  ['request', 'http_request'],
  ['google sheets', 'read_rows'],
])('the first step for "%s" is %s', (text, key) => {
  expect(matchingOffers(STEPS, text)[0]?.key).toBe(key);
});

test.each([
  ['cron', 'schedule'],
  ['telegram', 'bot'],
  ['gmail', 'mail'],
])('the first trigger for "%s" is %s', (text, key) => {
  expect(matchingOffers(TRIGGER_OFFERS, text)[0]?.key).toBe(key);
});

test('a word matches the beginning of words, not their inside', () => {
  expect(keysOf(matchingOffers(STEPS, 'if'))).toEqual(['switch']);
  expect(matchingOffers(STEPS, 'xylophone')).toEqual([]);
});

test('without words all nodes are found, in the order of their categories', () => {
  expect(matchingOffers(STEPS, '  ')).toEqual(STEPS);
  const categories = [...new Set(STEPS.map(({ category }) => category))];
  expect(categories).toEqual(['AI', 'Messages', 'Web', 'Data', 'Sheets and files', 'Flow']);
});

test('a skill without a category is found under Other, after the others', () => {
  expect(offersOf(['set', 'new_one']).at(-1)).toMatchObject({
    key: 'new_one',
    label: 'New one',
    category: 'Other',
  });
});

test('the nodes that were used last come first, each once, and at most four', () => {
  const used = ['set', 'agent', 'set', 'code', 'wait', 'fail'].reduce<string[]>(withUsed, []);
  expect(used).toEqual(['fail', 'wait', 'code', 'set']);
  expect(keysOf(recentOffers(STEPS, ['wait', 'gone', 'agent']))).toEqual(['wait', 'agent']);
});
