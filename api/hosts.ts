/**
 * The hosts that a credential of kind http or oauth2 may be sent to: what an entry of `allowedHosts` means, and which hosts count
 * where none are named. Pure, and without zod, which the console's pages do not load; hosts are compared as the URL parser writes them.
 */

/** `*`, or a host with an optional scheme before it and an optional port after it. RE2 reads it, too: the CRD has it. */
export const HOST_ENTRY =
  /^(https?:\/\/)?(\*|(\*\.)?[^\s/\\?#@%:*,'"<>[\].]+(\.[^\s/\\?#@%:*,'"<>[\].]+)*\.?(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?)$/;
/** The commonest mistake: a URL in the place of a host. */
export const HAS_PATH = /^(https?:\/\/)?[^\s:/?#\\]+(:[0-9]+)?[/?#\\]/;
export const PATH_PROBLEM =
  'an allowed host has no path or query: write api.example.com, not https://api.example.com/v1';
export const HOST_PROBLEM =
  'an allowed host is a name or an address, with a scheme and port where they are meant: write api.example.com, api.example.com:8443, http://api.shop.svc:8080, *.example.com, or "*" for every host';

/**
 * The API hosts of the presets. Whole names: below googleapis.com there are hosts at which everybody may publish (storage), so that no
 * wildcard is among them.
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

/** Scheme, host and port that are written out to their end. */
const CONSTANT_HOST = /^https?:\/\/[^\s/?#\\{}]+(?=[/?#\\]|$)/i;

/** Whether the text has the form of an entry. */
export function isHostEntry(text: string): boolean {
  return HOST_ENTRY.test(text);
}

/** What is wrong with the text as an entry, and what to write; undefined: nothing. */
export function hostEntryProblem(text: string): string | undefined {
  if (isHostEntry(text)) return undefined;
  return HAS_PATH.test(text) ? PATH_PROBLEM : HOST_PROBLEM;
}

/** The entries that count for the spec of a credential: its own list, else the API hosts of its preset, else none. */
export function allowedHostsOf({ http, oauth2 }: Account): readonly string[] {
  const { preset = 'custom' } = oauth2 ?? {};
  return (http ?? oauth2)?.allowedHosts ?? API_HOSTS[preset];
}

/** Whether one of the entries admits the URL. What is no entry admits nothing. */
export function admitsURL(entries: readonly string[], url: URL): boolean {
  return entries.some((each) => {
    const pattern = patternOf(each);
    return pattern !== undefined && isWithin(pattern, url);
  });
}

/** The entry that admits the scheme, host and port of a URL, and no other. */
export function hostEntryFor({ protocol, origin, host }: URL): string {
  return protocol === 'https:' ? host : origin;
}

/** The entry that admits the URL of a step, whatever references stand in its path or query; undefined where its host is not constant. */
export function constantEntry(url: unknown): string | undefined {
  const origin = constantOrigin(url);
  const entry = origin && hostEntryFor(origin);
  return origin && entry !== undefined && admitsURL([entry], origin) ? entry : undefined;
}

/** Scheme, host and port of the URL of a step, whatever references stand after them; undefined where they are not constant. */
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
  // The parser takes more characters for a dot.
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

/** Without the dot that says that a name is complete. */
function nameOf({ hostname }: URL): string {
  return hostname.replace(/\.$/, '');
}

/** The parser writes every IPv4 address with four numbers, and IPv6 in brackets. */
function isAddress(name: string): boolean {
  return name.startsWith('[') || /^\d+(\.\d+){3}$/.test(name);
}
