/**
 * The hosts that a credential of kind http or oauth2 may be sent to: the meaning of an entry of
 * `allowedHosts`, and the defaults. Pure, and without zod, which pages of the console do not load. Hosts are
 * compared as the URL parser normalizes them.
 */

/** `*`, or a host with an optional scheme and an optional port. Also valid RE2, because the CRD has it. */
export const HOST_ENTRY =
  /^(https?:\/\/)?(\*|(\*\.)?[^\s/\\?#@%:*,'"<>[\].]+(\.[^\s/\\?#@%:*,'"<>[\].]+)*\.?(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?)$/;
/** The most frequent mistake: a URL instead of a host. */
export const HAS_PATH = /^(https?:\/\/)?[^\s:/?#\\]+(:[0-9]+)?[/?#\\]/;
export const PATH_PROBLEM =
  'an allowed host must not have a path or query: write api.example.com, not https://api.example.com/v1';
export const HOST_PROBLEM =
  'an allowed host must be a host name or IP address, with an optional scheme and port: write api.example.com, api.example.com:8443, http://api.shop.svc:8080, *.example.com, or "*" for every host';

/**
 * The API hosts of the presets. Without wildcards: googleapis.com also has hosts on which anybody can publish
 * (storage).
 */
export const API_HOSTS = {
  google: [
    'www.googleapis.com',
    'gmail.googleapis.com',
    'sheets.googleapis.com',
    'docs.googleapis.com',
    'slides.googleapis.com',
    'forms.googleapis.com',
    'people.googleapis.com',
    'tasks.googleapis.com',
    'openidconnect.googleapis.com',
  ],
  microsoft: ['graph.microsoft.com'],
  custom: [],
} as const satisfies Record<string, readonly string[]>;

type Named = { allowedHosts?: readonly string[] | undefined };
type Account = {
  http?: Named | undefined;
  oauth2?: (Named & { preset?: keyof typeof API_HOSTS | undefined }) | undefined;
};

/** Complete literal scheme, host and port. */
const CONSTANT_HOST = /^https?:\/\/[^\s/?#\\{}]+(?=[/?#\\]|$)/i;

/** Whether the text is a valid entry. */
export function isHostEntry(text: string): boolean {
  return HOST_ENTRY.test(text);
}

/** Why the text is not a valid entry, and what to write; undefined for a valid entry. */
export function hostEntryProblem(text: string): string | undefined {
  if (isHostEntry(text)) return undefined;
  return HAS_PATH.test(text) ? PATH_PROBLEM : HOST_PROBLEM;
}

/** The effective entries of a credential: its own list, else the API hosts of its preset, else none. */
export function allowedHostsOf({ http, oauth2 }: Account): readonly string[] {
  const { preset = 'custom' } = oauth2 ?? {};
  return (http ?? oauth2)?.allowedHosts ?? API_HOSTS[preset];
}

/** Whether one of the entries allows the URL. An invalid entry allows nothing. */
export function admitsURL(entries: readonly string[], url: URL): boolean {
  return entries.some((each) => {
    const pattern = patternOf(each);
    return pattern !== undefined && isWithin(pattern, url);
  });
}

/** The entry that allows only the scheme, host and port of a URL. */
export function hostEntryFor({ protocol, origin, host }: URL): string {
  return protocol === 'https:' ? host : origin;
}

/**
 * The entry for the URL of a step, whatever references its path and query have; undefined if its host is not
 * constant.
 */
export function constantEntry(url: unknown): string | undefined {
  const origin = constantOrigin(url);
  const entry = origin && hostEntryFor(origin);
  return origin && entry !== undefined && admitsURL([entry], origin) ? entry : undefined;
}

/** Scheme, host and port of the URL of a step; undefined if they are not constant. */
export function constantOrigin(url: unknown): URL | undefined {
  const [start] = (typeof url === 'string' && CONSTANT_HOST.exec(url.trim())) || [];
  return start !== undefined && URL.canParse(start) ? new URL(start) : undefined;
}

type Pattern = {
  protocol: string;
  /** Undefined: every host, at every port. */
  at?: { name: string; port: string; isBelow: boolean };
};

function patternOf(text: string): Pattern | undefined {
  if (!isHostEntry(text)) return undefined;
  const [, scheme = 'https', rest = ''] = /^(?:(https?):\/\/)?(.*)$/.exec(text) ?? [];
  const protocol = `${scheme}:`;
  if (rest === '*') return { protocol };
  const isBelow = rest.startsWith('*.');
  const base = `${protocol}//${isBelow ? rest.slice(2) : rest}`;
  if (!URL.canParse(base)) return undefined;
  const url = new URL(base);
  // The parser normalizes other characters to a dot, too.
  if (nameOf(url) === '') return undefined;
  return { protocol, at: { name: nameOf(url), port: url.port, isBelow } };
}

function isWithin({ protocol, at }: Pattern, url: URL): boolean {
  if (url.protocol !== protocol) return false;
  if (at === undefined) return true;
  if (url.port !== at.port) return false;
  const name = nameOf(url);
  return at.isBelow ? !isAddress(name) && name.endsWith(`.${at.name}`) : name === at.name;
}

/** Without the trailing dot of a fully qualified name. */
function nameOf({ hostname }: URL): string {
  return hostname.replace(/\.$/, '');
}

/** The parser normalizes every IPv4 address to four numbers, and IPv6 to brackets. */
function isAddress(name: string): boolean {
  return name.startsWith('[') || /^\d+(\.\d+){3}$/.test(name);
}
