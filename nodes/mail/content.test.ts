/** What the trigger produces of a mail, also of the worst that senders can write. */
import { expect, test } from 'vitest';
import type { MailTrigger } from '../../api/trigger.ts';
import { type MailContent, parseMail } from './content.ts';
import { outputOf } from './output.ts';

const RECEIVED = new Date('2026-01-02T03:04:05Z');
const LIMIT = 524_288;

type Data = Record<string, unknown> & { attachments: Record<string, unknown>[] };

type Output = { text: string; data: Data; bytes: number };

const parsed = (source: string | Buffer): Promise<MailContent> =>
  parseMail(typeof source === 'string' ? Buffer.from(source.replaceAll('\n', '\r\n')) : source);

const produced = async (source: string | Buffer, fields: Partial<MailTrigger> = {}): Promise<Output> =>
  shown(await parsed(source), fields);

function shown(mail: MailContent, fields: Partial<MailTrigger>): Output {
  const output = outputOf(mail, { credential: 'mail', ...fields }, RECEIVED, LIMIT);
  const bytes = Buffer.byteLength(JSON.stringify(output));
  return { text: output.text_content, data: output.data_content as Data, bytes };
}

const HEADER = `From: "Lovelace, Ada" <ada@example.com>
To: Bo <bo@example.com>, Team: cy@example.com, =?utf-8?q?D=C3=A4?= <d@example.com>;
Cc: e@example.com
Reply-To: answers@example.com
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
Date: Fri, 2 Jan 2026 10:20:30 +0200
Message-ID: <a1@example.com>
In-Reply-To: <a0@example.com>
References: <z@example.com>
 <a0@example.com>
`;

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64').replaceAll(/.{76}/g, '$&\n');

const WITH_FILE = `${HEADER}Content-Type: multipart/mixed; boundary=b

--b
Content-Type: multipart/alternative; boundary=c

--c
Content-Type: text/plain; charset=utf-8

Guten Tag
--c
Content-Type: text/html; charset=utf-8

<p>Guten <b>Tag</b></p>
--c--
--b
Content-Type: application/pdf
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename*=utf-8''%C3%BCber.pdf

${base64('%PDF-1.7 and more')}
--b--
`;

test('a mail gives its text, who wrote it to whom, when, and what lies in it', async () => {
  const { text, data } = await produced(WITH_FILE);
  expect(text.trim()).toBe('Guten Tag');
  expect(data).toEqual({
    from: '"Lovelace, Ada" <ada@example.com>',
    subject: 'Grüße',
    date: '2026-01-02T08:20:30.000Z',
    to: ['Bo <bo@example.com>', 'cy@example.com', 'Dä <d@example.com>'],
    cc: ['e@example.com'],
    reply_to: ['answers@example.com'],
    message_id: '<a1@example.com>',
    in_reply_to: '<a0@example.com>',
    references: ['<z@example.com>', '<a0@example.com>'],
    auto_submitted: null,
    automatic: null,
    attachments: [{ filename: 'über.pdf', content_type: 'application/pdf', size: 17 }],
    html: expect.stringContaining('<b>Tag</b>'),
    truncated: false,
  });
});

test('attachments come as the trigger says: not at all, with their content, or without where they are too large', async () => {
  expect((await produced(WITH_FILE, { attachments: 'None' })).data.attachments).toEqual([]);
  const [whole] = (await produced(WITH_FILE, { attachments: 'Content' })).data.attachments;
  expect(Buffer.from(String(whole?.['content']), 'base64').toString()).toBe('%PDF-1.7 and more');
  const [large] = (await produced(WITH_FILE, { attachments: 'Content', maxAttachmentBytes: 16 })).data
    .attachments;
  expect(large).toEqual({ filename: 'über.pdf', content_type: 'application/pdf', size: 17 });
});

test('where there is no plain text, the text comes from the HTML', async () => {
  const { text, data } = await produced(
    `${HEADER}Content-Type: text/html; charset=utf-8\n\n<title>color</title><STYLE type=a>p{color:red}</style ><!-- alert --><p>Dear Ada,</p><p>2 &lt; 3 &amp; ü</p><script>alert(1)`,
  );
  expect(text).toContain('Dear Ada,');
  expect(text).toContain('2 < 3 & ü');
  expect(text).not.toMatch(/color|alert|<p>/);
  expect(data['html']).toContain('<p>Dear Ada,</p>');
});

test('texts and pages side by side are both brought, as text and as HTML', async () => {
  const { text, data } = await produced(
    `${HEADER}Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>Dear <b>Ada</b></p>\n--b\n\nThe list <lamps@example.com>\n--b--\n`,
  );
  expect(text.split('\n').filter(Boolean)).toEqual(['Dear Ada', 'The list <lamps@example.com>']);
  expect(data['html']).toContain('<p>Dear <b>Ada</b></p>');
  expect(data['html']).toContain('<div>The list &lt;lamps@example.com&gt;</div>');
});

test.each([
  ['a<br>b<BR/>c', 'a\nb\nc'],
  ['<p>a</p><p>b</p>', 'a\n\nb'],
  ['<ul><li>a</li><li>b</li></ul>', '* a\n* b'],
  ['<a title="x" href="https://example.com/?a=1&amp;b=2">here</a>', '(https://example.com/?a=1&b=2) here'],
  ['<table><tr><td>a</td><td>b</td></tr></table>', 'a\n\nb'],
  ['a<img src="x">b<b>c</b>d', 'a bcd'],
  ['1 < 2 > 0 &lt;b&gt; &eacute;&#x1F980;', '1 < 2 > 0 <b> é🦀'],
  ['a<!-- b <p> -->c<style>p { }</style>d', 'acd'],
  ['a <b', 'a'],
])('of the page %j the text is %j', async (page, expected) => {
  const { text } = await produced(`${HEADER}Content-Type: text/html; charset=utf-8\n\n${page}\n`);
  expect(text).toBe(expected);
});

const PAGES = [
  '<a href=',
  '<a href="',
  '<',
  '<a ',
  '<br',
  '<li>\u00a0',
  '<!--',
  '<style>',
  '<p> ',
  '&',
  '</',
  '\n ',
];

test.each(PAGES)('a large page of %j takes no longer than others', async (unit) => {
  // In square time it takes minutes.
  const page = unit.repeat(Math.ceil(350_000 / unit.length));
  for (const text of ['', '--b\n\nfirst\n']) {
    const { data, bytes } = await produced(
      `Content-Type: multipart/mixed; boundary=b\n\n${text}--b\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\n${base64(page)}\n--b--\n`,
    );
    expect(data['html']).toContain(unit);
    expect(bytes).toBeLessThanOrEqual(LIMIT);
  }
});

test('a mail without date, subject, sender, identity and body has what can be said of it', async () => {
  const { text, data } = await produced('X-Nothing: here\n\n');
  expect(text).toBe('');
  expect(data).toMatchObject({
    from: '',
    subject: '',
    to: [],
    date: RECEIVED.toISOString(),
    message_id: null,
    html: null,
    attachments: [],
    truncated: false,
  });
});

test.each(['not a date', 'Fri, 99 Jan 2026 99:99:99 +0000', ''])(
  'of the date %j the time of receipt is taken',
  async (date) => {
    const { data } = await produced(`Date: ${date}\nSubject: a\n\nb`);
    expect(data['date']).toBe(RECEIVED.toISOString());
  },
);

test('a charset that nobody knows is read as if it was Windows-1252', async () => {
  const head = Buffer.from('Subject: a\r\nContent-Type: text/plain; charset=x-klingon-8\r\n\r\n');
  const { text } = await produced(Buffer.concat([head, Buffer.from([0x47, 0xfc, 0x80])]));
  expect(text.trim()).toBe('G\u00fc\u20ac');
});

test.each([
  ['iso-8859-1', Buffer.from('Gr\u00fc\u00dfe', 'latin1')],
  ['iso-2022-jp', Buffer.from('\u001b$B$3$s\u001b(B', 'latin1')],
  ['windows-1251', Buffer.from([0xcf, 0xf0, 0xe8])],
])('text in %s is read', async (charset, bytes) => {
  const head = Buffer.from(`Content-Type: text/plain; charset=${charset}\r\n\r\n`);
  const { text } = await produced(Buffer.concat([head, bytes]));
  expect(text.trim()).toBe({ 'iso-8859-1': 'Grüße', 'iso-2022-jp': 'こん', 'windows-1251': 'При' }[charset]);
});

test('a subject of 1,000 emoji is whole, encoded or as it is', async () => {
  const emoji = '🦀'.repeat(1_000);
  const words = Array.from(
    { length: 100 },
    () => `=?utf-8?b?${Buffer.from('🦀'.repeat(10)).toString('base64')}?=`,
  );
  expect((await produced(`Subject: ${words.join('\n ')}\n\na`)).data['subject']).toBe(emoji);
  expect((await produced(`Subject: ${emoji}\n\na`)).data['subject']).toBe(emoji);
});

test('200 attachments are listed, and their contents are kept in order for as long as they fit', async () => {
  const parts = Array.from(
    { length: 200 },
    (_, n) =>
      `--b\nContent-Type: text/csv\nContent-Disposition: attachment; filename=${n}.csv\nContent-Transfer-Encoding: base64\n\n${base64('x'.repeat(5_000))}\n`,
  );
  const { data, bytes } = await produced(
    `Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\ntext\n${parts.join('')}--b--\n`,
    { attachments: 'Content' },
  );
  expect(data.attachments).toHaveLength(200);
  expect(data.attachments.at(-1)).toMatchObject({ filename: '199.csv', size: 5_000 });
  const withContent = data.attachments.filter(({ content }) => content !== undefined).length;
  expect(withContent).toBeGreaterThan(50);
  expect(data.attachments.slice(0, withContent).every(({ content }) => content !== undefined)).toBe(true);
  expect(bytes).toBeLessThanOrEqual(LIMIT);
});

test('a mail within a mail is a file', async () => {
  const { text, data } = await produced(
    'Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nsee below\n--b\nContent-Type: message/rfc822\n\nSubject: inner\n\nsecret\n--b--\n',
  );
  expect(text.trim()).toBe('see below');
  expect(data.attachments).toMatchObject([{ content_type: 'message/rfc822' }]);
});

test('header lines that were hidden in a name or a subject stay one line', async () => {
  const hidden = `=?utf-8?q?hello=0D=0ABcc:_x@example.com?=`;
  const { data } = await produced(`From: ${hidden} <a@example.com>\nSubject: ${hidden}\n\na`);
  expect(data['subject']).toBe('hello Bcc: x@example.com');
  expect(JSON.stringify([data['from'], data['subject']])).not.toMatch(/\\[rn]/);
});

test.each<[string, string | Buffer]>([
  ['nothing at all', ''],
  [
    'no end of its parts',
    'Subject: cut off\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nthe beginning',
  ],
  [
    'a boundary that it never uses',
    'Subject: cut off\nContent-Type: multipart/mixed; boundary=never\n\nthe beginning',
  ],
  ['no boundary', 'Subject: cut off\nContent-Type: multipart/mixed\n\nthe beginning'],
  ['invalid base64', 'Subject: cut off\nContent-Transfer-Encoding: base64\n\n!!!!*'],
  ['invalid quoted-printable', 'Subject: cut off\nContent-Transfer-Encoding: quoted-printable\n\n=ZZ=0=\n='],
  ['a transfer encoding that nobody knows', 'Subject: cut off\nContent-Transfer-Encoding: rot13\n\na'],
  ['a header without a colon', 'Subject: cut off\nthis is no header\n\na'],
  ['bytes at random', Buffer.from(Array.from({ length: 5_000 }, (_, n) => (n * n * 31 + 7) % 256))],
  ['NUL and lone surrogates', Buffer.from('Subject: a\r\n\r\n\u0000\ud800')],
])('a mail that has %s gives an output', async (_what, source) => {
  const { data, bytes } = await produced(source);
  expect(typeof data['subject']).toBe('string');
  expect(bytes).toBeLessThanOrEqual(LIMIT);
});

test('parts within parts beyond all bounds give what the header says, marked', async () => {
  const opened = Array.from(
    { length: 400 },
    (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n`,
  );
  const { text, data } = await produced(
    `Subject: deep\nDate: Fri, 2 Jan 2026 08:20:30 +0000\n${opened.join('')}\nhello`,
  );
  expect(data).toMatchObject({ subject: 'deep', date: '2026-01-02T08:20:30.000Z', truncated: true });
  expect(text).toBe('');
});

test('a header of 3 MB gives what stands at its beginning, marked', async () => {
  const { data } = await produced(`Subject: long\n${'X-Long: yes\n'.repeat(250_000)}\nhello`);
  expect(data).toMatchObject({ subject: 'long', truncated: true });
});

test.each(['a', 'ü', '🦀', '"', '\u0001', '<p>&amp;</p>'])(
  'texts of a megabyte of %j are cut with a mark, so that the output is no larger than it may be',
  async (unit) => {
    const long = unit.repeat(Math.ceil(1_000_000 / Buffer.byteLength(unit)));
    const alternative = `--b\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n${base64(long)}\n--b\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\n${base64(long)}\n--b--`;
    const source = `Subject: a\nContent-Type: multipart/alternative; boundary=b\n\n${alternative}`;
    const mail = await parsed(source);
    for (const attachments of ['Metadata', 'Content'] as const) {
      const { text, data, bytes } = shown(mail, { attachments });
      expect(bytes).toBeLessThanOrEqual(LIMIT);
      expect(bytes).toBeGreaterThan(LIMIT * 0.9);
      expect(text.endsWith('…') && String(data['html']).endsWith('…')).toBe(true);
      expect(text.isWellFormed()).toBe(true);
      expect(data['truncated']).toBe(true);
    }
  },
);

const many = (count: number, of: (n: number) => string, between: string) =>
  Array.from({ length: count }, (_, n) => of(n)).join(between);

test.each<[string, string, boolean]>([
  ['100 addresses', `To: ${many(100, (n) => `a${n}@example.com`, ',\n ')}`, false],
  ['300 addresses', `To: ${many(300, (n) => `a${n}@example.com`, ',\n ')}`, true],
  ['addresses of 40 KB', `Cc: ${many(100, (n) => `${'x'.repeat(400)}${n}@example.com`, ',\n ')}`, true],
  ['a name of 2,000 letters', `From: ${'x'.repeat(2_000)} <a@example.com>`, true],
  ['60 references', `References: ${many(60, (n) => `<${n}@example.com>`, '\n ')}`, true],
  ['a subject of 20,000 letters', `Subject: ${'x'.repeat(20_000)}`, true],
])('of a mail with %s the mark says whether something of it is missing', async (_what, line, isCut) => {
  const { data } = await produced(`${line}\n\nthe text`);
  expect(data['truncated']).toBe(isCut);
});

test('3,000 addresses in each line, 500 references and 400 long names of files, leave room for the rest', async () => {
  const to = Array.from({ length: 3_000 }, (_, n) => `${'🦀'.repeat(20)}${n} <a${n}@example.com>`).join(
    ',\n ',
  );
  const references = Array.from({ length: 500 }, (_, n) => `<${'ü'.repeat(400)}${n}@example.com>`).join(
    '\n ',
  );
  const parts = Array.from(
    { length: 400 },
    (_, n) =>
      `--b\nContent-Type: text/csv; name="${'🦀'.repeat(150)}${n}"\nContent-Disposition: attachment\n\nx\n`,
  );
  const { text, data, bytes } = await produced(
    `To: ${to}\nCc: ${to}\nReply-To: ${to}\nReferences: ${references}\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nthe text\n${parts.join('')}--b--`,
  );
  expect(bytes).toBeLessThanOrEqual(LIMIT);
  expect(text.trim()).toBe('the text');
  expect(data['to']).toContain(`${'🦀'.repeat(20)}0 <a0@example.com>`);
  expect(data.attachments.length).toBeGreaterThan(100);
  expect(data['truncated']).toBe(true);
});
