import { expect, test } from 'vitest';
import { explainRefusal } from './errors.ts';

test.each([
  [
    'roles "windlass-runner" is forbidden: User "operator" cannot patch resource "roles"',
    /^The operator lacks a right\. /,
  ],
  [
    "roles \"windlass-runner\" is forbidden: ValidatingAdmissionPolicy 'windlass-operator-names' with binding 'a' denied request",
    /^An admission policy refuses an object of the operator\. Undo manual changes/,
  ],
])('a refusal with the words %j says whom to ask, with these words', (said, expected) => {
  expect(explainRefusal(new Error(said))).toMatch(expected);
  expect(explainRefusal(new Error(said))).toContain(said);
});
