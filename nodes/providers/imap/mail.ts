/**
 * Reads one mail of an open mailbox. Guarantees that a mail of any size takes a few megabytes of memory and
 * traffic: a small one is fetched whole; of a large one, or one with very many lines, first the structure,
 * then the header, the texts and the attachments that are wanted.
 */
import type { FetchBodyPartQuery, ImapFlow, ImapFlowError, MessageStructureObject } from 'imapflow';
import type { MailTrigger } from '../../../api/trigger.ts';
import { HEADER_LIMIT, isParsable, parseMail, readHeader, type MailContent } from '../../mail/content.ts';
import { fetchMail, lossOf, refusalOf } from './connection.ts';
import { assemble, type Part } from '../../mail/parts.ts';

/** What must be known of a mail before it is read. */
export type MailSummary = { uid: number; size: number; received: Date };

/** Up to this size a mail is fetched in one piece. */
const WHOLE_BYTES = 1_048_576;
const PIECE_BYTES = 393_216;

/** The mail; undefined where it is not there any more. What the server does not give of it is missing. */
export async function readMail(
  client: ImapFlow,
  { uid, size }: MailSummary,
  trigger: MailTrigger,
): Promise<MailContent | undefined> {
  const source = size > WHOLE_BYTES ? undefined : await sourceOf(client, uid);
  if (!source || !isParsable(source)) return readLarge(client, uid, trigger);
  const mail = await parseMail(source);
  return source.length < 2 * WHOLE_BYTES ? mail : { ...mail, truncated: true };
}

/**
 * The mail as it was sent; undefined where the server does not give it in one piece. Some servers only guess
 * the size.
 */
async function sourceOf(client: ImapFlow, uid: number): Promise<Buffer | undefined> {
  const piece = (start: number, maxLength: number) =>
    fetchMail(client, uid, { source: { start, maxLength } }).then((found) => found?.source);
  const source = await orRefused(inPieces(2 * WHOLE_BYTES, piece));
  return source && source.length > 0 ? source : undefined;
}

/**
 * At most so many bytes, asked for one after the other, so that no answer is large. Undefined where one of
 * them is not given.
 */
async function inPieces(
  most: number,
  piece: (start: number, maxLength: number) => Promise<Buffer | undefined>,
): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  for (let start = 0; start < most; start += PIECE_BYTES) {
    const length = Math.min(PIECE_BYTES, most - start);
    const found = await piece(start, length);
    if (!found) return undefined;
    pieces.push(found);
    if (found.length < length) break;
  }
  return Buffer.concat(pieces);
}

/** Servers refuse what they cannot read themselves; undefined then. */
function orRefused<T>(asked: Promise<T>): Promise<T | undefined> {
  return asked.catch((error: unknown) => {
    if (refusalOf(error) === undefined) throw error;
    return undefined;
  });
}

async function readLarge(
  client: ImapFlow,
  uid: number,
  trigger: MailTrigger,
): Promise<MailContent | undefined> {
  const found = await fetchMail(client, uid, { bodyParts: [headerPart(HEADER_LIMIT)] });
  if (!found) return undefined;
  const header = await readHeader(found.headers ?? Buffer.alloc(0));
  const root = await structureOf(client, uid);
  // Its sender wanted it to be unreadable, or the server cannot read it. The connection may be lost with it,
  // and the mail must not hold up those behind it.
  if (!root) return { header, text: '', html: undefined, attachments: [], truncated: true };
  const load = async (key: string, most: number) => {
    const piece = (start: number, maxLength: number) =>
      fetchMail(client, uid, { bodyParts: [{ key, start, maxLength }] }).then((part) =>
        part?.bodyParts?.get(key.toLowerCase()),
      );
    return (await orRefused(inPieces(most, piece))) ?? Buffer.alloc(0);
  };
  return { header, ...(await assemble(leavesOf(root), trigger, load)) };
}

/** The beginning of the header: what a mail has of it is for its sender to choose. */
export function headerPart(maxLength: number): FetchBodyPartQuery {
  return { key: 'HEADER', start: 0, maxLength };
}

/**
 * What the mail consists of; undefined where the server does not say it, or with more than is read, because
 * of the mail.
 */
async function structureOf(client: ImapFlow, uid: number): Promise<MessageStructureObject | undefined> {
  try {
    return (await orRefused(fetchMail(client, uid, { bodyStructure: true })))?.bodyStructure;
  } catch (error) {
    const { code = '' } = (lossOf(client) ?? error) as ImapFlowError;
    if (/TooLarge$|^ParserError|NESTING/.test(code)) return undefined;
    throw error;
  }
}

/** The parts that have no parts, in order. A mail within a mail is one of them. */
function leavesOf(node: MessageStructureObject): Part[] {
  if (node.childNodes && node.type.startsWith('multipart/')) return node.childNodes.flatMap(leavesOf);
  const {
    type,
    parameters = {},
    dispositionParameters = {},
    disposition,
    encoding = '7bit',
    size = 0,
  } = node;
  return [
    {
      key: node.part ?? 'TEXT',
      type,
      charset: parameters['charset'],
      encoding: encoding.toLowerCase(),
      isAttachment: disposition?.toLowerCase() === 'attachment',
      filename: dispositionParameters['filename'] ?? parameters['name'],
      encodedSize: size,
      // Base64 has 57 bytes in a line of 76 characters and a line break.
      size: encoding.toLowerCase() === 'base64' ? Math.floor((size * 57) / 78) : size,
    },
  ];
}
