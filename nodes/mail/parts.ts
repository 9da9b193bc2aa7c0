/**
 * Assembles a large mail from the parts that are needed. Holds no more of it in memory than an output can
 * have. Parts that are not fetched are still listed as attachments.
 */
import type { MailTrigger } from '../../api/trigger.ts';
import { fileName, parseText, type MailAttachment, type MailContent } from './content.ts';
import { textOfHtml } from './html.ts';
import { isWanted } from './output.ts';

export type Part = {
  /** By which it is loaded. */
  key: string;
  type: string;
  charset: string | undefined;
  /** The transfer encoding in which it is loaded. */
  encoding: string;
  isAttachment: boolean;
  filename: string | undefined;
  /** Bytes in that encoding. */
  encodedSize: number;
  /** Bytes without it, or what they are about. */
  size: number;
};

/** Loads a part as it is encoded, at most so many bytes of it. */
export type Load = (key: string, maxLength: number) => Promise<Uint8Array>;

/** What is loaded of one text, and of all texts and contents together. */
const TEXT_BYTES = 1_048_576;
const ALL_BYTES = 3_145_728;
/** Each is a question to the server. */
const MOST_LOADED = 200;

/** Texts, attachments and whether something is missing. */
export async function assemble(
  parts: readonly Part[],
  trigger: MailTrigger,
  load: Load,
): Promise<Omit<MailContent, 'header'>> {
  const loading: Loading = { load, trigger, room: ALL_BYTES, left: MOST_LOADED, truncated: false };
  const texts: string[] = [];
  const pages: string[] = [];
  const attachments: MailAttachment[] = [];
  for (const part of parts) {
    if (!isText(part)) attachments.push(await attachmentOf(part, loading));
    else if (part.type === 'text/html') pages.push((await textOf(part, loading)).html ?? '');
    else texts.push((await textOf(part, loading)).text ?? '');
  }
  const html = pages.length === 0 ? undefined : pages.join('\n');
  const text = texts.join('\n').trim() ? texts.join('\n') : await textOfHtml(html ?? '');
  return { text, html, attachments, truncated: loading.truncated };
}

type Loading = { load: Load; trigger: MailTrigger; room: number; left: number; truncated: boolean };

async function textOf(part: Part, loading: Loading): Promise<{ text?: string; html?: string }> {
  const most = loading.left > 0 ? Math.min(loading.room, TEXT_BYTES) : 0;
  if (part.encodedSize > most) loading.truncated = true;
  if (most <= 0 || part.encodedSize === 0) return {};
  const bytes = await loaded(part, most, loading);
  const { text = '', html = '' } = await parseText(part.type, plain(part.charset), bytes);
  // As the parser gives it of mails that it gets in one piece.
  return { text: text.replaceAll('\r\n', '\n'), html: html.replaceAll('\r\n', '\n') };
}

async function attachmentOf(part: Part, loading: Loading): Promise<MailAttachment> {
  const attachment = { filename: fileName(part.filename), contentType: part.type, size: part.size };
  const fits = part.encodedSize <= loading.room && loading.left > 0;
  if (!isWanted(part.size, loading.trigger) || !fits) return attachment;
  if (part.encodedSize === 0) return { ...attachment, size: 0, content: new Uint8Array() };
  const content = await loaded(part, part.encodedSize, loading);
  return content.length === 0 ? attachment : { ...attachment, size: content.length, content };
}

async function loaded(part: Part, most: number, loading: Loading): Promise<Uint8Array> {
  const body = await loading.load(part.key, most);
  loading.room -= body.length;
  loading.left -= 1;
  // What the server does not give although there is something.
  if (body.length === 0) loading.truncated = true;
  return decoded(body, part.encoding);
}

function isText({ type, isAttachment }: Part): boolean {
  return !isAttachment && (type === 'text/plain' || type === 'text/html');
}

/** What cannot stand in a name of a charset is left out. */
function plain(charset: string | undefined): string | undefined {
  return charset?.replaceAll(/[^\w.:+-]/g, '').slice(0, 64);
}

/** Without the transfer encoding (RFC 2045 section 6). */
function decoded(body: Uint8Array, encoding: string): Uint8Array {
  const text = () => Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  if (encoding === 'base64') return Buffer.from(text(), 'base64');
  if (encoding !== 'quoted-printable') return body;
  const joined = text().replaceAll(/=[ \t]{0,76}\r?\n/g, '');
  const bytes = joined.replaceAll(/=([0-9A-Fa-f]{2})/g, (_match, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1');
}
