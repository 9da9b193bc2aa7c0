/**
 * What every skill of the register has: a description of each parameter, an effect, and its places in the
 * documentation.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { ACCEPTED_CREDENTIALS } from '../api/credentialKinds.ts';
import { credentialsFor, type Offer } from './providers/register.ts';
import { SKILLS } from './register.ts';

const reference = readFileSync(new URL('../docs/reference/skills.md', import.meta.url), 'utf8');
const page = readFileSync(new URL('../docs/skills.md', import.meta.url), 'utf8');

test.each(SKILLS)('$name is described, with each of its parameters, and says its effect', (skill) => {
  const { properties = {} } = z.toJSONSchema(skill.parameters, { io: 'input', unrepresentable: 'any' });
  const [, section = ''] = reference.split(`\n## ${skill.name}\n`);
  const [described = ''] = section.split('\n## ');
  expect(described).toContain(`Effect: ${skill.effect}`);
  for (const [name, schema] of Object.entries(properties)) {
    expect([name, typeof schema === 'object' && schema.description]).toEqual([
      name,
      expect.stringMatching(/.{5}\.$/s),
    ]);
    expect(described).toContain(`| \`${name}\` |`);
  }
  const headings = page.split('\n').filter((line) => line.startsWith('## '));
  expect(headings.join('\n')).toMatch(new RegExp(`\\b${skill.name}\\b`));
});

test.each(SKILLS)('the schema of $name requires each parameter without which it refuses', (skill) => {
  const { required = [] } = z.toJSONSchema(skill.parameters, { io: 'input', unrepresentable: 'any' });
  const { error } = skill.parameters.safeParse({});
  const refused = new Set(error?.issues.map(({ path }) => String(path[0])));
  expect(required.toSorted()).toEqual([...refused].toSorted());
});

test.each<[kind: keyof typeof ACCEPTED_CREDENTIALS, offer: Offer]>([
  ['mail', 'mail'],
  ['spreadsheet', 'spreadsheet'],
  ['fileStorage', 'files'],
  ['bot', 'messenger'],
  ['agent', 'model'],
])('the console offers %s the credentials of the providers with the offer %s', (kind, offer) => {
  expect(new Set(ACCEPTED_CREDENTIALS[kind])).toEqual(new Set(credentialsFor(offer)));
});
