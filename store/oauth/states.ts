/**
 * What the run store holds while somebody connects a credential: one-time links, one-time states, sealed codes, and the public key
 * that codes are sealed to. All of it ends by itself; no account of a runner pool reaches it. Links and states are kept under
 * the hash of their secret, so that who reads the store can use neither.
 */
import { createHash, randomBytes } from 'node:crypto';
import { isUnavailable, orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { countMade, takeOnce } from '../oneTime.ts';
import { defineFragment, defineScript } from '../script.ts';
import { connectKeys } from './keys.ts';

/** From asking for a link to the provider's answer. */
export const CONNECT_MS = 600_000;
/** How long a sealed code waits for the operator. */
const CODE_SECONDS = 60;
/** How long a public key counts after the operator last said it. */
const KEY_MS = 15_000;
/** Links of a namespace in ten minutes: far more than people can open, and few enough to leave the store its room. */
export const MOST_LINKS = 200;
/** Codes that wait at most: beyond them nobody takes them. */
const MOST_CODES = 1_000;

/** What codes are sealed for. */
export const SEALED_FOR = 'windlass/connect';

/** The credential that is being connected, as it was when the link was made, and by whom. */
type Connecting = {
  namespace: string;
  name: string;
  uid: string;
  generation: number;
  user: string;
  /** The hash of which client at which endpoints: see api/provider.ts. */
  connection: string;
  redirectURI: string;
  /** What the provider is asked for. */
  scopes: string[];
  /** Who must have answered, and whether an answer may leave it out. */
  issuer?: string;
  mustNameIssuer: boolean;
};

/** What a link leads to: the provider's page, but for what belongs to one browser. */
export type Link = Connecting & { authorizationURL: string; endsAt: number };

/** What an answer of the provider is compared with. `browser` is the hash of the browser's cookie. */
export type State = Connecting & { browser: string };

/** What the operator needs to fetch the token. */
export type Code = Connecting & { code: string; verifier: string; state: string; answeredBy?: string };

/** 256 random bits, as text. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Whether it can be such a text: nothing else is looked for in the run store. */
export function isSecret(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** The hash by which a secret is known to those who must not have it. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

type Kept = { outcome: 'kept' } | Unavailable;
type Found<T> = { outcome: 'found'; value: T } | { outcome: 'none' } | Unavailable;

/** Keeps a link under its secret, unless the namespace was given too many of late. */
export async function keepLink(
  conn: RunStoreConnection,
  secret: string,
  link: Link,
): Promise<Kept | { outcome: 'too-many' }> {
  const made = connectKeys.made(hashOf(link.namespace));
  const count = await countMade(conn, made, CONNECT_MS);
  if (isUnavailable(count)) return count;
  if (count > MOST_LINKS) return { outcome: 'too-many' };
  return keep(conn, connectKeys.link(hashOf(secret)), link, CONNECT_MS);
}

/** The link, which can still be opened. */
export function readLink(conn: RunStoreConnection, secret: string): Promise<Found<Link>> {
  return orUnavailable(async () => found(await conn.command('get', connectKeys.link(hashOf(secret)))));
}

/** The link, which nobody gets a second time. */
export function takeLink(conn: RunStoreConnection, secret: string): Promise<Found<Link>> {
  return take(conn, connectKeys.link(hashOf(secret)));
}

/** Keeps a state for so many milliseconds. */
export function keepState(
  conn: RunStoreConnection,
  secret: string,
  state: State,
  forMs: number,
): Promise<Kept> {
  return keep(conn, connectKeys.state(hashOf(secret)), state, forMs);
}

/** The state, which nobody gets a second time. */
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

/** Written by the gateway alone, so it has the form. */
function found<T>(text: unknown): Found<T> {
  return typeof text === 'string' ? { outcome: 'found', value: JSON.parse(text) as T } : { outcome: 'none' };
}

/** Says which key codes are to be sealed to. Repeat it every few seconds: nothing is sealed to the key of who has gone. */
export function publishKey(conn: RunStoreConnection, publicKey: string): Promise<Kept> {
  return orUnavailable(async () => {
    await conn.command('set', connectKeys.key, publicKey, 'PX', KEY_MS);
    return { outcome: 'kept' };
  });
}

/** The key that codes are to be sealed to; undefined while nobody could open them. */
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

/** Leaves a sealed code for the operator, for 60 s. */
export function leaveCode(conn: RunStoreConnection, sealed: string): Promise<Kept | { outcome: 'too-many' }> {
  return orUnavailable(async () => {
    const isIn = await conn.script(ADD, [connectKeys.codes], [sealed, MOST_CODES - 1]);
    return { outcome: isIn === 1 ? 'kept' : 'too-many' };
  });
}

/** All codes that wait and are not older than 60 s. Nobody gets them a second time. */
export function takeCodes(conn: RunStoreConnection): Promise<readonly string[] | Unavailable> {
  return orUnavailable(async () => (await conn.script(TAKE_ALL, [connectKeys.codes], [])) as string[]);
}
