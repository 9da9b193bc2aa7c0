/**
 * Parses mail. Guarantees that header values are one line each and bounded, and that any input gives a
 * result: what cannot be parsed is left out, and the result says so.
 */
import PostalMime, { type Address, type Email, type Mailbox } from 'postal-mime';
import { htmlOfText, textOfHtml } from './html.ts';

export type MailAttachment = {
  filename: string | null;
  contentType: string;
  /** Bytes. Of what was not fetched: computed from what its encoded form has. */
  size: number;
  content?: Uint8Array;
};

export type MailHeader = {
  from: string;
  to: string[];
  cc: string[];
  replyTo: string[];
  subject: string;
  /** As ISO 8601; undefined where the mail has none that can be read. */
  date: string | undefined;
  messageId: string | undefined;
  inReplyTo: string | undefined;
  references: string[];
  /** What the sender says of how the mail came about (RFC 3834), in lower case. */
  autoSubmitted: string | undefined;
  /** The header line by which it shows that no person wrote it to this reader; undefined where none does. */
  automatic: string | undefined;
  /** Whether something of it is missing. */
  truncated: boolean;
};

export type MailContent = {
  header: MailHeader;
  text: string;
  html: string | undefined;
  attachments: MailAttachment[];
  /** Whether something of the mail is missing. */
  truncated: boolean;
};

/** What is read of the header at most, in bytes. */
export const HEADER_LIMIT = 262_144;
const LF = 10;
/** Those of a mail of 1 MiB that is nearly all base64, and some. */
const MOST_LINES = 20_000;
const MOST_ADDRESSES = 200;
const MOST_REFERENCES = 50;
const LONGEST_LINE = 10_000;
const LONGEST_ADDRESS = 1_000;
/** A mail within a mail is a file like any other. */
const OPTIONS = { forceRfc822Attachments: true };
/**
 * What programs and mailing lists say of their mail (RFC 3834 section 2), by the names of headers; a bounce
 * has nobody to answer to.
 */
const AUTOMATIC: readonly (readonly [name: RegExp, value: RegExp])[] = [
  [/^auto-submitted$/, /^(?!\s*no\b)/i],
  [/^return-path$/, /^\s*<\s*>/],
  [/^content-type$/, /^\s*multipart\/report\b/i],
  [/^from$/, /\bmailer-daemon\b/i],
  [/^precedence$/, /^\s*(?:bulk|junk|list)\b/i],
  [/^list-[a-z-]+$/, /^/],
  [/^x-auto-response-suppress$/, /\b(?:all|autoreply)\b/i],
];
const MESSAGE_ID = /<[^\s<>\p{Cc}]{1,900}>/gu;

/** Parses a mail as it was sent. Also what is cut off or broken gives a mail; nothing is thrown. */
export async function parseMail(source: Uint8Array): Promise<MailContent> {
  try {
    return await contentOf(await parse(source));
  } catch {
    // Nested too deep, or a header beyond all bounds.
    const header = await readHeader(source);
    return { header, text: '', html: undefined, attachments: [], truncated: true };
  }
}

/** The texts of a part, or of several of which each says the same. */
type Texts = { plain?: { value: string }[]; html?: { value: string }[] };
/** What the parser has inside, and does at the end of its work. */
type Parser = PostalMime & { textMap: Map<unknown, Texts>; renderTextContent(): void };

/**
 * The mail, without its texts, and these as they were sent: the parser would make text of HTML with
 * expressions that may take minutes.
 */
async function parse(source: Uint8Array): Promise<{ email: Email; texts: Texts[] }> {
  const parser = new PostalMime(OPTIONS) as Parser;
  parser.renderTextContent = () => {};
  const email = await parser.parse(source);
  return { email, texts: [...parser.textMap.values()] };
}

/** What the header alone says, cleaned: it ends where the first empty line is. */
export async function readHeader(source: Uint8Array): Promise<MailHeader> {
  const lines = linesOfHeader(source);
  // Without its type it is the header of an empty text, whatever parts the mail has.
  const untyped = lines.replaceAll(/^content-[^\n]*\n(?:[ \t][^\n]*\n?)*/gim, '');
  const email = await PostalMime.parse(Buffer.from(`${untyped}\r\n\r\n`, 'latin1')).catch(() =>
    PostalMime.parse('Subject: \r\n\r\n'),
  );
  const header = headerOf(email);
  return { ...header, truncated: header.truncated || lines.length === HEADER_LIMIT };
}

/** What stands before the first empty line, at most as much as is read of a header. */
function linesOfHeader(source: Uint8Array): string {
  const bounded = Buffer.from(source.subarray(0, HEADER_LIMIT)).toString('latin1');
  return bounded.slice(0, /\r?\n\r?\n/.exec(bounded)?.index);
}

function headerOf(email: Email): MailHeader {
  const auto = email.headers.find(({ key }) => key === 'auto-submitted')?.value;
  const sender = addressesOf(email.from ? [email.from] : []);
  return {
    from: sender[0] ?? '',
    to: addressesOf(email.to),
    cc: addressesOf(email.cc),
    replyTo: addressesOf(email.replyTo),
    truncated: isCut(email),
    subject: oneLine(email.subject ?? '', LONGEST_LINE),
    date: dateOf(email.date),
    messageId: messageIds(email.messageId)[0],
    inReplyTo: messageIds(email.inReplyTo)[0],
    references: messageIds(email.references).slice(-MOST_REFERENCES),
    autoSubmitted:
      auto === undefined
        ? undefined
        : oneLine(auto, 100)
            .split(/[\s;(]/, 1)[0]
            ?.toLowerCase(),
    automatic: automaticOf(email),
  };
}

function isCut({ from, to = [], cc = [], replyTo = [], subject = '', references }: Email): boolean {
  const lists = [from ? [from] : [], to, cc, replyTo].map(mailboxesOf);
  return (
    lists.some((list) => list.length > MOST_ADDRESSES) ||
    lists.flat().some(({ name, address }) => Math.max(name.length, address.length) > LONGEST_ADDRESS) ||
    messageIds(references).length > MOST_REFERENCES ||
    subject.length > LONGEST_LINE
  );
}

function automaticOf({ headers }: Email): string | undefined {
  const line = headers.find(({ key, value }) =>
    AUTOMATIC.some(([name, shows]) => name.test(key) && shows.test(value)),
  );
  return line && oneLine(`${line.originalKey}: ${line.value}`, 100);
}

/** A text of a mail by itself, as bytes without transfer encoding: what `text` or `html` it is. */
export async function parseText(
  type: string,
  charset: string | undefined,
  bytes: Uint8Array,
): Promise<Email> {
  // The parser keeps each line by itself, which takes a hundred times the room of many short ones.
  const header = `Content-Type: ${type}${charset === undefined ? '' : `; charset=${charset}`}`;
  return PostalMime.parse(
    `${header}\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(bytes).toString('base64')}`,
  );
}

/**
 * Whether a mail may be parsed in one piece: of lines that are not base64 the parser takes a kilobyte each,
 * and of a long header long.
 */
export function isParsable(source: Uint8Array): boolean {
  if (linesOfHeader(source).length === HEADER_LIMIT) return false;
  let lines = 0;
  for (let at = source.indexOf(LF); at >= 0; at = source.indexOf(LF, at + 1)) {
    lines += 1;
    if (lines > MOST_LINES) return false;
  }
  return true;
}

async function contentOf({ email, texts }: { email: Email; texts: Texts[] }): Promise<MailContent> {
  return {
    header: headerOf(email),
    ...(await textsOf(texts)),
    attachments: email.attachments.map(({ filename, mimeType, content }) => {
      const bytes = bytesOf(content);
      return { filename: fileName(filename), contentType: mimeType, size: bytes.length, content: bytes };
    }),
    truncated: false,
  };
}

/** All of them as text, and as HTML where some are in HTML. */
async function textsOf(texts: readonly Texts[]): Promise<Pick<MailContent, 'text' | 'html'>> {
  const joined = (parts: { value: string }[] = []) => parts.map(({ value }) => value).join('\n');
  const text: string[] = [];
  const html: string[] = [];
  for (const { plain, html: pages } of texts) {
    text.push(joined(plain).trim() ? joined(plain) : await textOfHtml(joined(pages)));
    html.push(pages ? joined(pages) : htmlOfText(joined(plain)));
  }
  return { text: text.join('\n'), html: texts.some((each) => each.html) ? html.join('\n') : undefined };
}

/** What the parser gives without being asked for text. */
function bytesOf(content: ArrayBuffer | Uint8Array | string): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content);
}

/** A name as senders give it, without what no name of a file has. */
export function fileName(name: string | null | undefined): string | null {
  const line = oneLine(name ?? '', 255);
  return line === '' ? null : line;
}

/**
 * Control characters, also those that were hidden in an encoded word (RFC 2047), end in a space: a header is
 * one line.
 */
function oneLine(text: string, most: number): string {
  const line = text
    .slice(0, 2 * LONGEST_LINE)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  return line.length <= most ? line : `${line.slice(0, most).toWellFormed()}…`;
}

/** Groups are taken apart. */
function mailboxesOf(addresses: readonly Address[]): Mailbox[] {
  return addresses.flatMap((address) => address.group ?? [address]);
}

function addressesOf(addresses: readonly Address[] = []): string[] {
  return mailboxesOf(addresses)
    .slice(0, MOST_ADDRESSES)
    .map(({ name, address }) => {
      const [shown, plain] = [oneLine(name, LONGEST_ADDRESS), oneLine(address, LONGEST_ADDRESS)];
      if (shown === '' || shown === plain) return plain;
      return `${quotedName(shown)}${plain === '' ? '' : ` <${plain}>`}`;
    });
}

/**
 * A name with special characters or unusual white space stands in quotes (RFC 5322 section 3.2.4), so that it
 * can be sent as it is.
 */
function quotedName(name: string): string {
  if (!/[()<>[\]:;@\\,"]|[^\S ]|\u200b/.test(name)) return name;
  return `"${name.replaceAll(/["\\]/g, '').replaceAll(/[<>]/g, ' ').trim()}"`;
}

function messageIds(text = ''): string[] {
  return text.slice(0, HEADER_LIMIT).match(MESSAGE_ID) ?? [];
}

function dateOf(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{4}-\d\d-\d\dT/.test(text) ? text : undefined;
}
