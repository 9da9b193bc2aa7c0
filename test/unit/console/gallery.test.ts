/** What the gallery of nodes says of skills and steps, compared with the register. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { stepOffers, TRIGGER_OFFERS } from '../../../console/editor/gallery/offers.ts';
import { SKILL_CATEGORIES } from '../../../console/editor/gallery/skillCategories.ts';
import { SYNONYMS } from '../../../console/editor/gallery/synonyms.ts';
import { consoleSchemas } from '../../../images/schemas.ts';

const { skills, steps, triggers } = consoleSchemas();

test('each place, and each list of words, is that of a skill, step or trigger that exists', () => {
  const names = skills.map(({ name }) => name);
  expect(Object.keys(SKILL_CATEGORIES).filter((name) => !names.includes(name))).toEqual([]);
  const kinds = [...names, ...Object.keys(steps), ...Object.keys(triggers), 'forEach', 'repeat', 'switch'];
  expect(Object.keys(SYNONYMS).filter((key) => !kinds.includes(key))).toEqual([]);
});

test.each([...stepOffers({ steps, skills }), ...TRIGGER_OFFERS])(
  'the gallery has a description of $key, words that people search for, and a category',
  ({ description, synonyms, category }) => {
    expect(description).not.toBe('');
    expect(synonyms).not.toBe('');
    expect(category).not.toBe('Other');
  },
);

test.each(skills)('the skill $name has an icon of its own', ({ name }) => {
  // Node.js does not load JSX, and the icons are thousands of modules.
  const source = readFileSync(
    resolve(import.meta.dirname, '../../../console/workflows/nodeIcons.tsx'),
    'utf8',
  );
  expect(source).toMatch(new RegExp(`^  ${name}: Icon[A-Z]`, 'm'));
});

test('each kind of trigger is in the gallery', () => {
  expect(TRIGGER_OFFERS.map(({ key }) => key).toSorted()).toEqual(Object.keys(triggers).toSorted());
});
