/**
 * Reads one mail by the Gmail API. A small mail is fetched in its source form. Of a large one, or one with
 * very many lines, first its structure with the texts is fetched, then the attachments that are wanted. Any
 * mail takes a few megabytes of memory.
 */
import * as z from 'zod';
import type { MailTrigger } from '../../../api/trigger.ts';
import { isParsable, parseMail, readHeader, type MailContent, type MailHeader } from '../../mail/content.ts';
import { Failure, type FailureKind } from '../../contract/failure.ts';
import { getGmail, type Gmail } from './gmail.ts';
import { assemble, type Part } from '../../mail/parts.ts';

export type GmailSummary = {
  id: string;
  labels: ReadonlySet<string>;
  received: Date;
  size: number;
  header: MailHeader;
};

/** Up to this size a mail is fetched in one piece. */
const WHOLE_BYTES = 1_048_576;
const RAW_LIMIT = 4 * WHOLE_BYTES;
/** What an answer with the texts of a large mail may have. */
const FULL_LIMIT = 4 * WHOLE_BYTES;

const headersSchema = z.array(z.object({ name: z.string(), value: z.string() })).optional();
const summarySchema = z.object({
  id: z.string(),
  labelIds: z.array(z.string()).optional(),
  internalDate: z.string(),
  sizeEstimate: z.number(),
  payload: z.object({ headers: headersSchema }).optional(),
});
const rawSchema = z.object({ raw: z.string() });
const bodySchema = z.object({
  size: z.number().optional(),
  data: z.string().optional(),
  attachmentId: z.string().optional(),
});

type Payload = {
  partId?: string | undefined;
  mimeType?: string | undefined;
  filename?: string | undefined;
  headers?: { name: string; value: string }[] | undefined;
  body?: z.infer<typeof bodySchema> | undefined;
  parts?: Payload[] | undefined;
};

const payloadSchema: z.ZodType<Payload> = z.lazy(() =>
  z.object({
    partId: z.string().optional(),
    mimeType: z.string().optional(),
    filename: z.string().optional(),
    headers: headersSchema,
    body: bodySchema.optional(),
    parts: z.array(payloadSchema).optional(),
  }),
);
const fullSchema = z.object({ payload: payloadSchema });

/** What must be known of a mail before it is read; undefined where it is not there any more. */
export async function summaryOf(gmail: Gmail, id: string): Promise<GmailSummary | undefined> {
  const query = { format: 'metadata', metadataHeaders: ['From', 'Subject'] };
  const mail = await getGmail(gmail, pathOf(id), { query, schema: summarySchema });
  if (!mail) return undefined;
  return {
    id,
    labels: new Set(mail.labelIds),
    received: new Date(Number(mail.internalDate) || 0),
    size: mail.sizeEstimate,
    header: await headerFrom(mail.payload?.headers),
  };
}

/** The mail; undefined where it is not there any more. */
export async function readGmail(
  gmail: Gmail,
  { id, size }: GmailSummary,
  trigger: MailTrigger,
): Promise<MailContent | undefined> {
  const source = size > WHOLE_BYTES ? undefined : await sourceOf(gmail, id);
  return source && isParsable(source) ? parseMail(source) : readLarge(gmail, id, trigger);
}

/** The mail as it was sent; undefined where the server fails to give it so, or has it no more. */
async function sourceOf(gmail: Gmail, id: string): Promise<Buffer | undefined> {
  const options = { query: { format: 'raw' }, schema: rawSchema, limit: RAW_LIMIT };
  const mail = await getGmail(gmail, pathOf(id), options).catch((error: unknown) => {
    // It may be this one request that it cannot answer.
    if (isOneOf(error, 'UpstreamError', ...TOO_MUCH)) return undefined;
    throw error;
  });
  return mail && Buffer.from(mail.raw, 'base64url');
}

/** The failures of an answer that is too large, or that the server cannot give for this mail. */
const TOO_MUCH = ['InvalidAnswer', 'TooLarge', 'Unexpected'] as const;

function isOneOf(error: unknown, ...kinds: FailureKind[]): boolean {
  return error instanceof Failure && kinds.includes(error.kind);
}

async function readLarge(gmail: Gmail, id: string, trigger: MailTrigger): Promise<MailContent | undefined> {
  const payload = await payloadOf(gmail, id);
  if (!payload) return undefined;
  const header = await headerFrom(payload.headers);
  if (!payload.body && !payload.parts)
    return { header, text: '', html: undefined, attachments: [], truncated: true };
  const leaves = leavesOf(payload);
  const load = async (key: string, maxLength: number): Promise<Uint8Array> => {
    const { data = '', attachmentId } = leaves[Number(key)]?.body ?? {};
    const found = attachmentId === undefined ? data : await attachment(gmail, id, attachmentId, maxLength);
    return Buffer.from(found.replaceAll('-', '+').replaceAll('_', '/').slice(0, maxLength), 'latin1');
  };
  return { header, ...(await assemble(leaves.map(partOf), trigger, load)) };
}

/**
 * What the mail consists of, with its texts; the header alone where these are longer, or parts nested deeper,
 * than anybody reads.
 */
async function payloadOf(gmail: Gmail, id: string): Promise<Payload | undefined> {
  const ask = (format: string) =>
    getGmail(gmail, pathOf(id), { query: { format }, schema: fullSchema, limit: FULL_LIMIT });
  const mail = await ask('full').catch((error: unknown) => {
    if (isOneOf(error, ...TOO_MUCH)) return ask('metadata');
    throw error;
  });
  return mail?.payload;
}

/** In base64url. */
async function attachment(gmail: Gmail, id: string, attachmentId: string, most: number): Promise<string> {
  const path = `${pathOf(id)}/attachments/${encodeURIComponent(attachmentId)}`;
  const found = await getGmail(gmail, path, { schema: bodySchema, limit: most + 4_096 });
  return found?.data ?? '';
}

const pathOf = (id: string): string => `messages/${encodeURIComponent(id)}`;

function leavesOf(payload: Payload): Payload[] {
  const isMultipart = payload.mimeType?.startsWith('multipart/') ?? false;
  return isMultipart ? (payload.parts ?? []).flatMap(leavesOf) : [payload];
}

function partOf(
  { mimeType = 'text/plain', filename, headers = [], body = {} }: Payload,
  index: number,
): Part {
  const header = (name: string) => headers.find((each) => each.name.toLowerCase() === name)?.value ?? '';
  const size = body.size ?? 0;
  return {
    key: String(index),
    type: mimeType.toLowerCase(),
    charset: charsetOf(header('content-type'), body.data),
    // The API has removed the transfer encoding, and put its own in place.
    encoding: 'base64',
    encodedSize: Math.ceil(size / 3) * 4,
    size,
    isAttachment: /^\s*attachment/i.test(header('content-disposition')),
    filename,
  };
}

/**
 * The documentation does not say whether texts are in the charset that their header names or in UTF-8: the
 * bytes tell.
 */
function charsetOf(contentType: string, data: string | undefined): string | undefined {
  const named = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1];
  if (data === undefined || /^iso-2022/i.test(named ?? '')) return named;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(data, 'base64url'));
    return 'utf-8';
  } catch {
    return named;
  }
}

/** Written out again, to be read like every other header. */
async function headerFrom(headers: readonly { name: string; value: string }[] = []): Promise<MailHeader> {
  const lines = headers.map(({ name, value }) => `${name}: ${value.replaceAll(/[\r\n]+/g, ' ')}`);
  return readHeader(Buffer.from(lines.join('\r\n'), 'utf8'));
}
