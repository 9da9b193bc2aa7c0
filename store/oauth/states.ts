/**
 * State of OAuth sign-ins: one-time links, one-time states, sealed codes, and the public key that codes are
 * sealed to. All of it expires, and no account of a runner pool can access it. Links and states are stored
 * under the hash of their secret, so that a reader of the store can use neither.
 */
import { createHash, randomBytes } from 'node:crypto';
import { isUnavailable, orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { countTokens, takeOnce } from '../oneTime.ts';
import { defineFragment, defineScript } from '../script.ts';
import { connectKeys } from './keys.ts';

/** From the request for a link to the provider's callback. */
export const CONNECT_MS = 600_000;
/** How long a sealed code waits for the operator. */
const CODE_SECONDS = 60;
/** How long a public key is valid after the operator last published it. */
const KEY_MS = 15_000;
/** Links of a namespace in ten minutes: more than people can open, and few enough not to fill the store. */
export const MAX_LINKS = 200;
/** The most codes that wait: with more, nobody takes them. */
const MOST_CODES = 1_000;

/** The purpose that codes are sealed for. */
export const SEALED_FOR = 'windlass/connect';

/** The credential that is being connected, as it was when the link was created, and the user. */
type Connecting = {
  namespace: string;
  name: string;
  uid: string;
  generation: number;
  user: string;
  /** The hash of client and endpoints: see api/provider.ts. */
  connection: string;
  redirectURI: string;
  /** The requested scopes. */
  scopes: string[];
  /** The issuer that a callback must name, and whether it must name one. */
  issuer?: string;
  mustNameIssuer: boolean;
};

/** A link to the provider's authorization page, without the parameters of one browser. */
export type Link = Connecting & { authorizationURL: string; endsAt: number };

/** The state that a callback must present. `browser`: the hash of the browser's cookie. */
export type State = Connecting & { browser: string };

/** An authorization code, with what the token request needs. */
export type Code = Connecting & { code: string; verifier: string; state: string; answeredBy?: string };

/** 256 random bits, as text. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Whether the text has the form of a secret. */
export function isSecret(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** The hash under which a secret is stored. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

type Kept = { outcome: 'kept' } | Unavailable;
type Found<T> = { outcome: 'found'; value: T } | { outcome: 'none' } | Unavailable;

/** Stores a link under its secret, unless the namespace got too many lately. */
export async function storeLink(
  conn: RunStoreConnection,
  secret: string,
  link: Link,
): Promise<Kept | { outcome: 'too-many' }> {
  const made = connectKeys.made(hashOf(link.namespace));
  const count = await countTokens(conn, made, CONNECT_MS);
  if (isUnavailable(count)) return count;
  if (count > MAX_LINKS) return { outcome: 'too-many' };
  return keep(conn, connectKeys.link(hashOf(secret)), link, CONNECT_MS);
}

/** Reads the link, which stays valid. */
export function readLink(conn: RunStoreConnection, secret: string): Promise<Found<Link>> {
  return orUnavailable(async () => found(await conn.command('get', connectKeys.link(hashOf(secret)))));
}

/** Takes the link: nobody gets it a second time. */
export function takeLink(conn: RunStoreConnection, secret: string): Promise<Found<Link>> {
  return take(conn, connectKeys.link(hashOf(secret)));
}

/** Stores a state for so many milliseconds. */
export function storeState(
  conn: RunStoreConnection,
  secret: string,
  state: State,
  forMs: number,
): Promise<Kept> {
  return keep(conn, connectKeys.state(hashOf(secret)), state, forMs);
}

/** Takes the state: nobody gets it a second time. */
export function takeState(conn: RunStoreConnection, secret: string): Promise<Found<State>> {
  return take(conn, connectKeys.state(hashOf(secret)));
}

function keep(conn: RunStoreConnection, key: string, value: object, forMs: number): Promise<Kept> {
  return orUnavailable(async () => {
    await conn.command('set', key, JSON.stringify(value), 'PX', Math.max(1, Math.floor(forMs)));
    return { outcome: 'kept' };
  });
}

function take<T>(conn: RunStoreConnection, key: string): Promise<Found<T>> {
  return orUnavailable(async () => found(await takeOnce(conn, key)));
}

/** Only the gateway writes these keys, so that the text is valid. */
function found<T>(text: unknown): Found<T> {
  return typeof text === 'string' ? { outcome: 'found', value: JSON.parse(text) as T } : { outcome: 'none' };
}

/**
 * Publishes the key that codes are sealed to. Repeat it every few seconds: the key of an operator that ended
 * expires.
 */
export function publishKey(conn: RunStoreConnection, publicKey: string): Promise<Kept> {
  return orUnavailable(async () => {
    await conn.command('set', connectKeys.key, publicKey, 'PX', KEY_MS);
    return { outcome: 'kept' };
  });
}

/** The key that codes are sealed to; undefined while no operator could open them. */
export function readKey(conn: RunStoreConnection): Promise<string | undefined | Unavailable> {
  return orUnavailable(async () => {
    const key = await conn.command('get', connectKeys.key);
    return typeof key === 'string' ? key : undefined;
  });
}

/** `is_old(entry)`: whether a code, `<ms> <sealed>`, has expired by the server's clock. */
const CODE_AGE = defineFragment({
  gives: ['now', 'is_old'],
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function is_old(entry) return now - tonumber(string.match(entry, '^%d+')) > ${CODE_SECONDS} * 1000 end
`,
});

const ADD = defineScript({
  keys: ['codes'],
  // `last`: the index of the last code that may wait.
  args: ['sealed', 'last'],
  answers: '1 where the code is stored; 0 where too many wait',
  body: `
    ${CODE_AGE}
    local first = redis.call('LINDEX', codes, 0)
    while first and is_old(first) do
      redis.call('LPOP', codes)
      first = redis.call('LINDEX', codes, 0)
    end
    if redis.call('LINDEX', codes, last) then return 0 end
    redis.call('RPUSH', codes, string.format('%.0f', now) .. ' ' .. sealed)
    redis.call('EXPIRE', codes, ${CODE_SECONDS})
    redis.call('PUBLISH', codes, '')
    return 1
  `,
});

const TAKE_ALL = defineScript({
  flags: 'drains',
  keys: ['codes'],
  answers: 'the codes that have not expired',
  body: `
    ${CODE_AGE}
    local fresh = {}
    for _, entry in ipairs(redis.call('LRANGE', codes, 0, -1)) do
      if not is_old(entry) then fresh[#fresh + 1] = string.match(entry, ' (.*)$') end
    end
    redis.call('UNLINK', codes)
    return fresh
  `,
});

/** Stores a sealed code for the operator, for 60 s. */
export function storeCode(conn: RunStoreConnection, sealed: string): Promise<Kept | { outcome: 'too-many' }> {
  return orUnavailable(async () => {
    const isIn = await conn.script(ADD, [connectKeys.codes], [sealed, MOST_CODES - 1]);
    return { outcome: isIn === 1 ? 'kept' : 'too-many' };
  });
}

/** Takes all codes that are not older than 60 s: nobody gets them a second time. */
export function takeCodes(conn: RunStoreConnection): Promise<readonly string[] | Unavailable> {
  return orUnavailable(async () => (await conn.script(TAKE_ALL, [connectKeys.codes], [])) as string[]);
}

/**
 * Calls `onCode` when a code was stored, and when one may have been. A message may be lost: take the codes
 * every few seconds, too. `end` unsubscribes.
 */
export function watchCodes(conn: RunStoreConnection, onCode: () => void): { end(): void } {
  const subscription = conn.subscriber().subscribe(connectKeys.codes, onCode);
  return { end: () => void subscription.then((it) => it.end()) };
}
