/** The messages of code that fails, and what to write instead. */
import type { CodeFailure, CodeRequest } from '../contract/code.ts';

/** The most JSON text that a code step returns: what the run store takes of one output. */
export const OUTPUT_LIMIT = 512 * 1024;

/** `isOfEngine`: code cannot make such an error. */
export type Thrown = { name?: string; message: string; stack?: string; isOfEngine?: boolean };

/** Names that code in n8n and Node.js has, by what to write instead. */
const ABSENT: readonly [names: readonly string[], remedy: string][] = [
  [
    ['$json', '$input', '$node', '$', '$items', 'items'],
    'read the output of a node: nodes.<id>.data_content',
  ],
  [['$vars', '$env'], 'read a variable of the project: vars.<name>'],
  [['$now', '$today'], 'use run.accepted'],
  [['$execution', '$workflow'], 'use run.id and run.workflow'],
  [['fetch', 'XMLHttpRequest', '$http', '$helpers'], 'use the skill http_request before this node'],
  [['require', 'module', 'process', 'Buffer'], 'the sandbox has no modules and nothing of Node.js'],
  [['setTimeout', 'setInterval'], 'the sandbox has no timers'],
  [
    ['Intl', 'DateTime', 'luxon', 'moment'],
    'use formatDate(value, pattern, timeZone) or formatNumber(value, { locale })',
  ],
];

/** What to write in place of a name that code of other systems has; empty for other errors. */
export function hintFor({ name, message }: Thrown): string {
  const [, absent] = /^'?([\w$]+)'? is not defined$/.exec(name === 'ReferenceError' ? message : '') ?? [];
  const [, remedy] = ABSENT.find(([names]) => absent !== undefined && names.includes(absent)) ?? [];
  return remedy === undefined ? '' : `: ${remedy}`;
}

export const UNREADABLE: CodeFailure = {
  reason: 'CodeError',
  message: 'the code threw a value that cannot be read: throw an Error',
};
export const timedOut = ({ timeoutMs }: CodeRequest): CodeFailure => ({
  reason: 'CodeTimeout',
  message: `the code took longer than its timeout of ${timeoutMs / 1_000} s: make it do less, or raise code.timeout (at most 60s)`,
});

export const memoryMessage = ({ memoryMiB }: CodeRequest): string =>
  `the code needs more memory than its limit of ${memoryMiB} MiB: keep less data at a time, or raise code.memoryMiB (at most 128)`;

export const tooLarge = (characters: number): CodeFailure => ({
  reason: 'OutputTooLarge',
  message: `the code returned ${Math.ceil(characters / 1024)} KiB of JSON, and an output has at most ${OUTPUT_LIMIT / 1024} KiB: return less`,
});
