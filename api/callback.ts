/**
 * URLs of callbacks, which runners write into parameters and gateways read from requests. Only a program that
 * has a key of the project can make a valid token. No input or output.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export const CALLBACK_PREFIX = '/callback/';

/** A key of a project, by its ID. */
export type CallbackKey = { id: string; key: Uint8Array };

/** The node that waits. `acceptedAt`: of its run, because a name may come again. `node`: its located key. */
export type CallbackTarget = { run: string; acceptedAt: number; node: string };

/** The parts of a token. The signature is not checked yet. */
export type ReadToken = {
  project: string;
  keyId: string;
  target: CallbackTarget;
  signed: string;
  mac: Buffer;
};

/** Replaces URLs in outputs, records, live events and logs. */
export const CALLBACK_PLACEHOLDER = '[URL of a callback]';

/** A URL of a callback in a text, with or without its host. */
const URLS = /(?:https?:\/\/[^\s"'<>\\]*)?\/callback\/wlc[A-Za-z0-9_.-]+/g;
const TOKEN =
  /^wlc\.([A-Za-z0-9-]{1,64})\.([A-Za-z0-9]{1,32})\.([A-Za-z0-9_-]{1,4000})\.([A-Za-z0-9_-]{43})$/;

/** The token of a target: `wlc.<project>.<key>.<target>.<HMAC-SHA256>`. */
export function callbackToken(
  project: string,
  { id, key }: CallbackKey,
  { run, acceptedAt, node }: CallbackTarget,
): string {
  const target = Buffer.from(JSON.stringify([run, acceptedAt, node])).toString('base64url');
  const signed = `wlc.${project}.${id}.${target}`;
  return `${signed}.${signatureOf(signed, key).toString('base64url')}`;
}

/** Reads a token; undefined if it has another form. Its signature is not checked. */
export function readToken(token: string): ReadToken | undefined {
  const [, project = '', keyId = '', text = '', mac = ''] = TOKEN.exec(token) ?? [];
  if (project === '') return undefined;
  const target = targetOf(Buffer.from(text, 'base64url').toString('utf8'));
  const signed = token.slice(0, token.lastIndexOf('.'));
  return target && { project, keyId, target, signed, mac: Buffer.from(mac, 'base64url') };
}

/** Whether the key has signed the token. */
export function isSigned({ signed, mac }: ReadToken, key: Uint8Array): boolean {
  return mac.length === 32 && timingSafeEqual(mac, signatureOf(signed, key));
}

function signatureOf(signed: string, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(`windlass callback\n${signed}`).digest();
}

function targetOf(text: string): CallbackTarget | undefined {
  try {
    const [run, acceptedAt, node] = JSON.parse(text) as unknown[];
    const isTarget = typeof run === 'string' && typeof acceptedAt === 'number' && typeof node === 'string';
    return isTarget ? { run, acceptedAt, node } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the text may have the URL of a callback. */
export function mayHoldCallbackURL(text: string): boolean {
  return text.includes(`${CALLBACK_PREFIX}wlc`);
}

/** The value without URLs of callbacks. Keeps the value itself where it has none. */
export function withoutCallbackURLs<T>(value: T): T {
  if (typeof value === 'string') return value.replaceAll(URLS, CALLBACK_PLACEHOLDER) as T;
  if (typeof value !== 'object' || value === null) return value;
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain || !mayHoldCallbackURL(JSON.stringify(value))) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => withoutCallbackURLs(item)) as T;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [withoutCallbackURLs(key), withoutCallbackURLs(item)]),
  ) as T;
}
