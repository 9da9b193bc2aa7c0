/**
 * The console's cookies. A value that is too long is split into `windlass_console`, `windlass_console.1`, …,
 * each at most 4,096 bytes with its attributes, as browsers require. A part that is not full is the last one:
 * later parts are left over from a longer value, which the browser did not send when this one was set.
 */

const NAME = 'windlass_console';
/** Over TLS browsers accept this prefix from this host only: no neighbouring host can set a session. */
const HOST_PREFIX = '__Host-';
const CHUNK = 3_800;
/** As many as fit the limit of a request's headers. */
const MOST_CHUNKS = 3;

export type CookieOptions = {
  /** Whether the browser uses https. */
  secure: boolean;
  /** Left out: until the browser is closed. */
  maxAgeSeconds?: number;
  /** `Lax` for a cookie that another site's redirect must send. */
  sameSite?: 'Strict' | 'Lax';
};

/** The value of the session's cookies; '' if there is none. Over https only prefixed cookies count. */
export function sessionCookie(header: string | undefined, { secure }: Pick<CookieOptions, 'secure'>): string {
  const cookies = readCookies(header);
  const own = joined(cookies, hostName(NAME, true));
  return own === '' && !secure ? joined(cookies, NAME) : own;
}

/** The cookie's name, prefixed for https. */
export function hostName(name: string, secure: boolean): string {
  return secure ? HOST_PREFIX + name : name;
}

/**
 * The Set-Cookie headers of a session, which also delete the parts of a longer one; undefined if the value is
 * too long. An empty value deletes everything.
 */
export function sessionCookieHeaders(
  value: string,
  header: string | undefined,
  options: CookieOptions,
): string[] | undefined {
  if (value.length > CHUNK * MOST_CHUNKS) return undefined;
  const base = hostName(NAME, options.secure);
  const chunks = chunksOf(value);
  const set = chunks.map((chunk, at) => setCookieHeader(nameAt(base, at), chunk, options));
  const kept = new Set(chunks.map((_, at) => nameAt(base, at)));
  const left = [...readCookies(header).keys()].filter((name) => isOurs(name) && !kept.has(name));
  const removed = left.map((name) =>
    setCookieHeader(name, '', { secure: name.startsWith(HOST_PREFIX), maxAgeSeconds: 0 }),
  );
  return [...set, ...removed];
}

/** One Set-Cookie header. */
export function setCookieHeader(
  name: string,
  value: string,
  { secure, maxAgeSeconds, sameSite = 'Strict' }: CookieOptions,
): string {
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
  return `${name}=${value}; Path=/${age}; HttpOnly; SameSite=${sameSite}${secure ? '; Secure' : ''}`;
}

/** The cookies of a request by name. The first of a name counts: it has the longest path. */
export function readCookies(header: string | undefined): Map<string, string> {
  const cookies = new Map<string, string>();
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    if (at > 0 && !cookies.has(name)) cookies.set(name, pair.slice(at + 1).trim());
  }
  return cookies;
}

function chunksOf(value: string): string[] {
  if (value === '') return [];
  const count = Math.min(MOST_CHUNKS, Math.floor(value.length / CHUNK) + 1);
  return Array.from({ length: count }, (_, at) => value.slice(at * CHUNK, (at + 1) * CHUNK));
}

function nameAt(base: string, at: number): string {
  return at === 0 ? base : `${base}.${at}`;
}

function isOurs(name: string): boolean {
  const plain = name.startsWith(HOST_PREFIX) ? name.slice(HOST_PREFIX.length) : name;
  return plain === NAME || (plain.startsWith(`${NAME}.`) && /^\d$/.test(plain.slice(NAME.length + 1)));
}

function joined(cookies: Map<string, string>, base: string): string {
  let value = '';
  for (let at = 0; at < MOST_CHUNKS; at += 1) {
    const chunk = cookies.get(nameAt(base, at));
    value += chunk ?? '';
    if (chunk?.length !== CHUNK) break;
  }
  return value;
}
