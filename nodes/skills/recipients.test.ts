/** What references may name as recipients, from the parameters of a workflow to the envelope of the mail. */
import MailComposer from 'nodemailer/lib/mail-composer';
import { expect, test } from 'vitest';
import type { RevisionStep } from '../../api/revision.ts';
import { validateSkill } from '../register.ts';
import { compileFields } from '../step.ts';
import { sendEmail } from './sendEmail.ts';

/**
 * Evaluates and checks the parameters of a step; answers with the addresses of the envelope, or why there is
 * none.
 */
function envelope(parameters: Record<string, unknown>, data: unknown): string[] | string {
  const skill = { name: 'send_email', parameters: { subject: 's', body: 'b', ...parameters } };
  const step = { id: 'mail', kind: 'skill', skill } as unknown as RevisionStep;
  try {
    const fields = compileFields(step)({ node: () => ({ text_content: '', data_content: data }) });
    const { to, cc, bcc } = sendEmail.parameters.parse(fields['parameters']);
    const mail = {
      from: 'orders@shop.example',
      to,
      subject: 's',
      text: 'b',
      ...(cc && { cc }),
      ...(bcc && { bcc }),
    };
    return new MailComposer(mail).compile().getEnvelope().to;
  } catch (error) {
    return String(error);
  }
}

const REF = "{{ $('trigger').data_content }}";
const several = (count: number, separator: string) =>
  Array.from({ length: count }, (_, n) => `v${n}@victim.example`).join(separator);

test.each<[string, unknown]>([
  ['a text with commas', several(100, ',')],
  ['a text with semicolons', several(100, ';')],
  ['a text with spaces', several(100, ' ')],
  ['a list', ['ada@example.com', 'bo@example.com']],
  ['a list of one', ['ada@example.com']],
  ['a list of texts with commas', Array.from({ length: 100 }, () => `${several(40, ',')},A <a@b.co>`)],
  ['a group', `x: ${several(40, ',')};`],
  ['a group before an address', `x: ${several(40, ',')}; Ada <ada@example.com>`],
  ['a comment with an address', 'ada@example.com (evil@evil.example)'],
  ['an address before a name', 'evil@evil.example, Ada <ada@example.com>'],
  ['an empty text', ''],
  ['nothing', null],
  ['an object', { name: 'Ada', address: 'ada@example.com' }],
  ['a number', 7],
  ['a text of half a million characters', 'a@b.co,'.repeat(70_000)],
])('%s out of a reference fails the step, wherever the reference stands', (_what, data) => {
  for (const to of [
    REF,
    ` ${REF}\n`,
    [REF],
    ['bo@example.com', REF],
    `bo@example.com, ${REF}`,
    `Ada <${REF}>`,
  ])
    expect(envelope({ to }, data)).toMatch(/^StepError: to: /);
  for (const field of ['cc', 'bcc', 'replyTo'])
    expect(envelope({ to: 'bo@example.com', [field]: REF }, data)).toMatch(
      new RegExp(`^StepError: ${field}: `),
    );
});

test('the error names the reference and the remedy, and nothing of the value', () => {
  expect(envelope({ to: REF }, several(91, ','))).toBe(
    "StepError: to: $('trigger').data_content gave a value that is not exactly one address: " +
      'a reference must give one address, unless the step sets multipleRecipients: true',
  );
  expect(envelope({ to: REF }, ['a@b.co', 'c@d.co'])).toContain('gave a list of 2 values');
});

test.each<[string, unknown, unknown, string[]]>([
  ['a reference alone', REF, 'Ada <ada@example.com>', ['ada@example.com']],
  ['a name with a comma', REF, '"Lovelace, Ada" <ada@example.com>', ['ada@example.com']],
  [
    'a reference in a list',
    ['bo@example.com', REF],
    'ada@example.com',
    ['bo@example.com', 'ada@example.com'],
  ],
  [
    'a reference behind a comma',
    `Bo <bo@example.com>, ${REF}`,
    'ada@example.com',
    ['bo@example.com', 'ada@example.com'],
  ],
  ['a reference between brackets', `Ada <${REF}>`, 'ada@example.com', ['ada@example.com']],
  ['a reference as the name', `"${REF}" <ada@example.com>`, 'evil@evil.example>, <', ['ada@example.com']],
  ['a reference as the local part', `${REF}@example.com`, 'ada', ['ada@example.com']],
  ['a literal list', ['ada@example.com', 'Bo <bo@example.com>'], '', ['ada@example.com', 'bo@example.com']],
  [
    'a literal text with commas',
    '"Lovelace, Ada" <ada@example.com>, bo@example.com',
    '',
    ['ada@example.com', 'bo@example.com'],
  ],
])('%s reaches who is meant', (_what, to, data, expected) => {
  expect(envelope({ to }, data)).toEqual(expected);
});

test.each([
  [`${REF}@example.com`, '<evil@evil.example>'],
  [`${REF}@example.com`, 'evil@evil.example, x'],
  [`${REF}, bo@example.com`, 'evil@evil.example, x@evil.example("'],
  [`Ada <${REF}>`, 'evil@evil.example>, <ada@example.com'],
  [`Ada <ada@${REF}>`, 'example.com> <evil@evil.example'],
  [`${REF} <ada@example.com>`, 'Ada\r\nBcc: evil@evil.example'],
])('a reference cannot leave its place in %s with %j', (to, data) => {
  expect(envelope({ to }, data)).toMatch(/^StepError: to: /);
});

test('with multipleRecipients a reference may give several, each of them one mailbox, at most 100 together', () => {
  const send = (data: unknown, more: object = {}) =>
    envelope({ to: REF, multipleRecipients: true, ...more }, data);
  expect(send('"Lovelace, Ada" <ada@example.com>, bo@example.com')).toEqual([
    'ada@example.com',
    'bo@example.com',
  ]);
  expect(send(['ada@example.com', 'bo@example.com'])).toEqual(['ada@example.com', 'bo@example.com']);
  expect(send(several(100, ','))).toHaveLength(100);
  expect(send(several(101, ','))).toContain('more than 100 addresses');
  expect(send(several(60, ','), { cc: REF })).toContain('at most 100 addresses together');
  expect(send([several(2, ',')])).toContain('not exactly one address');
  expect(send(`x: ${several(2, ',')};`)).toContain('not exactly one address');
  expect(send('ada@example.com', { cc: `bo@example.com, ${REF}` })).toHaveLength(2);
  expect(send('a@b.co,'.repeat(70_000))).toContain('more than 100 addresses');
});

test('a value cannot admit several recipients itself', () => {
  const parameters = { to: 'ada@example.com', subject: 's', body: 'b', multipleRecipients: REF };
  expect(validateSkill('send_email', parameters)).toEqual([
    'multipleRecipients: takes no reference: write the value in the workflow',
  ]);
  expect(envelope({ to: REF, multipleRecipients: REF }, true)).toContain('StepError: ');
});
