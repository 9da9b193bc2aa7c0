/** What the gallery of nodes says of skills and steps, compared with the register. */
import { expect, test } from 'vitest';
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

test('each kind of step has a description, which the gallery shows', () => {
  expect(Object.values(steps).filter(({ description = '' }) => description === '')).toEqual([]);
});
