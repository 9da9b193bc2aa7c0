/**
 * The answer to a request as the output of a step. Guarantees that no more than a bound is read of it, also of what is compressed,
 * and that nothing of the credential that was sent comes back in it.
 */
import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { parseJson } from '../../../api/json.ts';
import { OUTPUT_LIMIT } from '../../../api/expression/evaluate.ts';
import { StepError } from '../../../api/reasons.ts';
import type { NodeOutput } from '../../../api/value.ts';
import type { Mask } from '../../secret.ts';
import { masked } from './authority.ts';
import { RESPONSE_BYTES, type Parameters } from './parameters.ts';

export type Received = {
  /** Whom it is from, for messages. */
  from: string;
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Readable;
};

/** Longer texts are cut in text_content; data_content has them whole. */
const TEXT_LIMIT = 65_536;
const LOOKED_AT = 16_384;
const QUOTED = 1_024;
const JSON_LIMITS = { maxDepth: 64, maxKeys: 10_000, maxTokens: 200_000 };
const JSON_TYPE = /^(application|text)\/([\w.+-]+\+)?json$/;
/** What belongs to the connection, or is a login of its own, is no part of the output. */
const LEFT_OUT = new Set(['connection', 'keep-alive', 'set-cookie', 'set-cookie2', 'transfer-encoding']);
const DECODERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * Reads the body to its end.
 * @throws StepError `OutputTooLarge` beyond the bound, `InvalidAnswer` for what cannot be uncompressed; errors of the connection
 */
export async function readBody({ from, status, headers, body }: Received, most: number): Promise<Buffer> {
  // Nothing can be uncompressed of nothing.
  if (status === 204 || status === 304 || headers['content-length'] === '0') return Buffer.alloc(0);
  const tooLarge = () => {
    const remedy = `ask for less, or raise maxResponseBytes (at most ${RESPONSE_BYTES.most})`;
    return new StepError('OutputTooLarge', `the answer of ${from} has more than ${most} bytes: ${remedy}`);
  };
  if (Number(headers['content-length']) > most) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of uncompressed(body, headers['content-encoding'], from)) {
    size += chunk.length;
    if (size > most) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The beginning of a body as text without the secrets, for a message. What cannot be read is left out. */
export async function beginningOf(
  { body, headers, from }: Received,
  secrets: readonly Mask[],
): Promise<string> {
  let text = '';
  try {
    for await (const chunk of uncompressed(body, headers['content-encoding'], from)) {
      text += chunk.toString('utf8');
      if (text.length >= LOOKED_AT) break;
    }
  } catch {
    // The status is what matters.
  }
  // Much less is kept than was looked at: a secret that is cut in two at the end is not recognized.
  return /[\uFFFD\0]/.test(text) ? '' : masked(text, secrets).slice(0, QUOTED);
}

/** Stops when the one who reads stops. */
async function* uncompressed(body: Readable, encoding = '', from: string): AsyncGenerator<Buffer> {
  const open = DECODERS[encoding.trim().toLowerCase() as keyof typeof DECODERS];
  if (!open) {
    yield* body as AsyncIterable<Buffer>;
    return;
  }
  const decoder = open();
  let failure: unknown;
  body.on('error', (error) => {
    failure = error;
    decoder.destroy(error);
  });
  try {
    yield* body.pipe(decoder) as AsyncIterable<Buffer>;
  } catch (error) {
    throw (
      failure ??
      new StepError('InvalidAnswer', `the answer of ${from} cannot be uncompressed`, { cause: error })
    );
  } finally {
    decoder.destroy();
  }
}

/**
 * The output of the step.
 * @throws StepError `InvalidAnswer` when JSON is asked for and the body is none; `OutputTooLarge`
 */
export function outputOf(
  { from, status, headers }: Received,
  bytes: Buffer,
  { response = 'auto', secrets }: { response: Parameters['response']; secrets: readonly Mask[] },
): NodeOutput {
  const shown = Object.entries(headers).filter(([name]) => !LEFT_OUT.has(name));
  const base = {
    status,
    headers: Object.fromEntries(shown.map(([name, value]) => [name, masked(value, secrets)])),
  };
  const { text, ...content } = contentOf(bytes, headers['content-type'] ?? '', response, from);
  const safe = masked(text, secrets);
  const output = {
    text_content: safe.slice(0, TEXT_LIMIT).toWellFormed(),
    data_content: { ...base, ...content, body: maskedValue(content.body, secrets) },
  };
  if (Buffer.byteLength(JSON.stringify(output)) <= OUTPUT_LIMIT) return output;
  const message = `the answer of ${from} is larger than an output may be (${OUTPUT_LIMIT / 1_024} KiB of JSON): ask for less`;
  throw new StepError('OutputTooLarge', message);
}

type Content = { text: string; body: unknown; encoding?: 'base64' };

function contentOf(
  bytes: Buffer,
  contentType: string,
  response: NonNullable<Parameters['response']>,
  from: string,
): Content {
  if (bytes.length === 0) return { text: '', body: null };
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (response === 'json' || (response === 'auto' && JSON_TYPE.test(type))) {
    const text = decoded(bytes, 'utf-8', true);
    const parsed = text === undefined ? undefined : parseJson(text, JSON_LIMITS);
    if (text !== undefined && parsed?.ok) return { text, body: parsed.value };
    if (response === 'json')
      throw new StepError(
        'InvalidAnswer',
        `the answer of ${from} is no JSON that can be taken: ${whyNot(parsed)}`,
      );
  }
  const text = decoded(bytes, charsetOf(contentType), response === 'auto');
  if (text !== undefined && (response === 'text' || !text.includes('\0'))) return { text, body: text };
  return { text: '', body: bytes.toString('base64'), encoding: 'base64' };
}

function whyNot(parsed: ReturnType<typeof parseJson> | undefined): string {
  return parsed && !parsed.ok ? parsed.message : 'The text is not valid JSON in UTF-8.';
}

function charsetOf(contentType: string): string {
  return /;\s*charset="?([\w.:-]+)"?/i.exec(contentType)?.[1] ?? 'utf-8';
}

/** The text; undefined for bytes that are none, if it is asked for. A charset that nobody knows counts as UTF-8. */
function decoded(bytes: Buffer, charset: string, fatal: boolean): string | undefined {
  try {
    return decoderOf(charset, fatal).decode(bytes).toWellFormed();
  } catch {
    return undefined;
  }
}

function decoderOf(charset: string, fatal: boolean) {
  try {
    return new TextDecoder(charset, { fatal });
  } catch {
    return new TextDecoder('utf-8', { fatal });
  }
}

/** JSON may escape any character, so that the values are looked through once more. */
function maskedValue(value: unknown, secrets: readonly Mask[]): unknown {
  if (secrets.length === 0) return value;
  if (typeof value === 'string') return masked(value, secrets);
  if (typeof value === 'number') {
    const text = String(value);
    return masked(text, secrets) === text ? value : masked(text, secrets);
  }
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [masked(key, secrets), maskedValue(item, secrets)]),
  );
}
