import { expect, test } from 'vitest';
import type { LiveProblem } from './liveProblems.ts';
import { publishWarning } from './publishWarning.ts';

const refused: LiveProblem = { place: 'a', message: 'has no kind', isRefused: true };
const incomplete: LiveProblem = { place: 'a', message: 'To is required.' };
const missing: LiveProblem = { place: 'a', message: 'Credential mail does not exist.', missing: 'needed' };
const active = { isActive: true, isServed: true };
const inactive = { isActive: false, isServed: true };

test.each<[string, LiveProblem[], Parameters<typeof publishWarning>[1], string, RegExp]>([
  ['refused', [missing, refused], active, 'These changes cannot be published yet', /Your draft is kept/],
  ['invalid', [missing, incomplete], active, 'This version will not be used yet', /^If .* live now until/],
  [
    'invalid, and the first',
    [incomplete],
    { isActive: true, isServed: false },
    'This version will not be used yet',
    /events start no runs until/,
  ],
  ['without a credential', [missing], active, 'Credentials are missing', /fail until the credentials exist/],
  [
    'inactive, and without a credential of a tool',
    [{ ...missing, missing: 'optional' }],
    inactive,
    'Credentials are missing',
    /fail until the credentials exist/,
  ],
  [
    'inactive and invalid',
    [missing, incomplete],
    inactive,
    'This version cannot run yet',
    /before you activate it/,
  ],
])('publishing a version that is %s has its own warning', (_what, problems, version, title, text) => {
  const warning = publishWarning(problems, version);
  expect(warning.title).toBe(title);
  expect(warning.text).toMatch(text);
});
