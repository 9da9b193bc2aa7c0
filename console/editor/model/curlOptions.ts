/**
 * The options of a curl command that say what is sent. Others are left out, with a note where they matter.
 * Pure.
 */

export type Given = {
  method: string;
  urls: string[];
  headers: [name: string, value: string][];
  /** A list: the parameter is given several times. */
  query: Record<string, string | string[]>;
  data: string | undefined;
  hasLogin: boolean;
  notes: string[];
};

type State = Given & { parts: string[]; isGet: boolean; chosen: string | undefined };

/** What an option with a value does. */
const WITH_VALUE: Readonly<Record<string, (state: State, value: string) => string | undefined>> = {
  request: (state, value) => void (state.chosen = value.toUpperCase()),
  url: (state, value) => void state.urls.push(value),
  header: addHeader,
  data: addData,
  'data-ascii': addData,
  'data-binary': addData,
  'data-raw': (state, value) => void state.parts.push(value),
  'data-urlencode': (state, value) => void state.parts.push(urlencoded(value)),
  json: (state, value) => {
    state.headers.push(['Content-Type', 'application/json'], ['Accept', 'application/json']);
    return addData(state, value);
  },
  user: (state) => void (state.hasLogin = true),
  'oauth2-bearer': (state) => void (state.hasLogin = true),
  'user-agent': (state, value) => void state.headers.push(['User-Agent', value]),
  referer: (state, value) => void state.headers.push(['Referer', value]),
  cookie: (state) => void state.headers.push(['Cookie', '']),
  form: () => 'The node cannot send a form with files (--form). Use --data for fields.',
  'form-string': () => 'The node cannot send a form with files (--form). Use --data for fields.',
  'upload-file': () => 'The node cannot send a file (--upload-file).',
  proxy: (state) => noted(state, '--proxy: the proxy is a setting of the installation.'),
  cert: (state) => noted(state, '--cert: client certificates are not supported.'),
};

const SHORT: Readonly<Record<string, string>> = {
  X: 'request',
  H: 'header',
  d: 'data',
  u: 'user',
  A: 'user-agent',
  e: 'referer',
  b: 'cookie',
  F: 'form',
  T: 'upload-file',
  x: 'proxy',
  E: 'cert',
  G: 'get',
  I: 'head',
  k: 'insecure',
  o: 'output',
  m: 'max-time',
  w: 'write-out',
  c: 'cookie-jar',
};

/** Options with a value that do not change what is sent. */
const SKIPPED = new Set([
  'output',
  'max-time',
  'connect-timeout',
  'write-out',
  'cookie-jar',
  'retry',
  'retry-delay',
  'max-redirs',
  'cacert',
  'resolve',
]);

/** The words behind `curl`. */
export function fieldsOf(words: readonly string[]): Given | { problem: string } {
  const state: State = {
    method: 'GET',
    urls: [],
    headers: [],
    query: {},
    data: undefined,
    hasLogin: false,
    notes: [],
    parts: [],
    isGet: false,
    chosen: undefined,
  };
  for (const queue = [...words]; queue.length > 0; ) {
    const problem = take(state, queue);
    if (problem !== undefined) return { problem };
  }
  return settled(state);
}

/** Takes one option or URL from the queue. Returns what is wrong. */
function take(state: State, queue: string[]): string | undefined {
  const word = queue.shift() ?? '';
  if (!word.startsWith('-') || word === '-') return void state.urls.push(word);
  const { name, inline } = optionOf(word, queue);
  const hasValue = Object.hasOwn(WITH_VALUE, name) || SKIPPED.has(name);
  if (!hasValue) return flag(state, name);
  const value = inline ?? queue.shift();
  if (value === undefined) return `The option ${word} has no value.`;
  return SKIPPED.has(name) ? undefined : WITH_VALUE[name]?.(state, value);
}

/** Short options may be written together, and with their value. */
function optionOf(word: string, queue: string[]): { name: string; inline: string | undefined } {
  if (word.startsWith('--')) return { name: word.slice(2), inline: undefined };
  const name = SHORT[word[1] ?? ''] ?? word.slice(1, 2);
  const rest = word.slice(2);
  if (rest === '') return { name, inline: undefined };
  if (Object.hasOwn(WITH_VALUE, name) || SKIPPED.has(name)) return { name, inline: rest };
  queue.unshift(`-${rest}`);
  return { name, inline: undefined };
}

function flag(state: State, name: string): undefined {
  if (name === 'get') state.isGet = true;
  if (name === 'head') state.chosen ??= 'HEAD';
  if (name === 'insecure') noted(state, '--insecure: the node checks the certificate.');
}

function noted(state: State, note: string): undefined {
  state.notes.push(`Left out: ${note}`);
}

function addHeader(state: State, value: string): undefined {
  const at = value.indexOf(':');
  const name = (at === -1 ? value : value.slice(0, at)).trim();
  if (name !== '') state.headers.push([name, at === -1 ? '' : value.slice(at + 1).trim()]);
}

function addData(state: State, value: string): string | undefined {
  if (value.startsWith('@'))
    return `The body is in the file ${value.slice(1)}. Paste the command with its content.`;
  state.parts.push(value);
  return undefined;
}

/** `name=content` and `content`, as the manual says; files are not read. */
function urlencoded(value: string): string {
  const at = value.indexOf('=');
  if (at === -1) return encodeURIComponent(value);
  const content = encodeURIComponent(value.slice(at + 1));
  return at === 0 ? content : `${value.slice(0, at)}=${content}`;
}

function settled({ parts, isGet, chosen, ...given }: State): Given {
  const joined = parts.length === 0 ? undefined : parts.join('&');
  if (isGet && joined !== undefined)
    return { ...given, method: chosen ?? 'GET', query: queryOf(new URLSearchParams(joined)) };
  return { ...given, method: chosen ?? (joined === undefined ? 'GET' : 'POST'), data: joined };
}

function queryOf(given: URLSearchParams): Given['query'] {
  const names = [...new Set(given.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const [first = '', ...more] = given.getAll(name);
      return [name, more.length === 0 ? first : [first, ...more]];
    }),
  );
}
