/**
 * Puts a large mail together from the parts that are needed, of which no more is held in memory than an output can have. What is not
 * fetched still stands in the list of attachments.
 */
import type { MailTrigger } from '../../api/trigger.ts';
import {
  bytesOf,
  fileName,
  parsePart,
  textOfHtml,
  type MailAttachment,
  type MailContent,
} from './content.ts';
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

/** Texts, attachments and whether something is missing. */
export async function assemble(
  parts: readonly Part[],
  trigger: MailTrigger,
  load: Load,
): Promise<Omit<MailContent, 'header'>> {
  const loading: Loading = { load, trigger, room: ALL_BYTES, truncated: false };
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

type Loading = { load: Load; trigger: MailTrigger; room: number; truncated: boolean };

async function textOf(part: Part, loading: Loading): Promise<{ text?: string; html?: string }> {
  const most = Math.min(loading.room, TEXT_BYTES);
  if (part.encodedSize > most) loading.truncated = true;
  if (most <= 0) return {};
  const body = await loading.load(part.key, most);
  loading.room -= body.length;
  const { text = '', html = '' } = await parsePart(headerOf(part, 'inline'), body);
  return { text, html };
}

async function attachmentOf(part: Part, loading: Loading): Promise<MailAttachment> {
  const attachment = { filename: fileName(part.filename), contentType: part.type, size: part.size };
  if (!isWanted(part.size, loading.trigger) || part.encodedSize > loading.room) return attachment;
  loading.room -= part.encodedSize;
  const content = await contentOf(part, loading.load);
  return { ...attachment, size: content.length, content };
}

function isText({ type, isAttachment }: Part): boolean {
  return !isAttachment && (type === 'text/plain' || type === 'text/html');
}

async function contentOf(part: Part, load: Load): Promise<Uint8Array> {
  const body = await load(part.key, part.encodedSize);
  const { attachments } = await parsePart(headerOf(part, 'attachment'), body);
  return bytesOf(attachments[0]?.content ?? new Uint8Array());
}

/** The header that the part has by itself, made of what is known of it. */
function headerOf({ type, charset, encoding }: Part, disposition: 'inline' | 'attachment'): string {
  const plain = (text: string) => text.replaceAll(/[^\w.:+/-]/g, '');
  const kind = disposition === 'inline' ? plain(type) : 'application/octet-stream';
  const set = charset === undefined ? '' : `; charset=${plain(charset)}`;
  return [
    `Content-Type: ${kind}${set}`,
    `Content-Transfer-Encoding: ${plain(encoding)}`,
    `Content-Disposition: ${disposition}`,
  ].join('\r\n');
}
