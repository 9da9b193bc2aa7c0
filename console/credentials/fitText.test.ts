/** Why a field does not take a credential. */
import { expect, test } from 'vitest';
import { misfitText, missingCredentialText } from './fitText.ts';

const rows = [
  { metadata: { name: 'mail' }, cells: { Kind: 'smtp' } },
  { metadata: { name: 'new' }, cells: {} },
];
const whole = { rows, more: false };

test.each<[string, string | undefined, string[], Parameters<typeof misfitText>[2], string | undefined]>([
  ['of its kind', 'mail', ['smtp'], whole, undefined],
  ['whose kind is not known yet', 'new', ['smtp'], whole, undefined],
  ['while it is not known which ones there are', 'mail', ['imap'], undefined, undefined],
  ['that may be in the rest of the list', 'gone', ['smtp'], { rows, more: true }, undefined],
  [
    'that does not exist',
    'gone',
    ['smtp'],
    whole,
    'Credential gone does not exist in this project. Create it or choose another one.',
  ],
  [
    'of another kind',
    'mail',
    ['imap'],
    whole,
    'Credential mail is for Send email (SMTP): choose one for Read email (IMAP).',
  ],
  ['of any kind, where it is not known which kinds it takes', 'mail', [], whole, undefined],
  ['that is not chosen', undefined, ['smtp'], whole, undefined],
])('what a field says of a credential %s', (_what, name, kinds, table, text) => {
  expect(misfitText(name, kinds, table)).toBe(text);
});

test('a name in a draft, which may be any text, neither hides nor reorders the sentence about it', () => {
  const text = missingCredentialText(`smtp\u202E${'x'.repeat(1_000)}`);
  expect(text).toMatch(/^Credential smtp\[U\+202E\]x{1,60}… does not exist in this project\./);
});
