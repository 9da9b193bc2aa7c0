/**
 * Finds values that the canvas and the forms cannot display, such as a list in place of text. YAML that
 * somebody is typing, and drafts that other programs wrote, may contain any value. The editor displays all
 * other mistakes as problems of the draft. Does not use the zod schemas: the bundle of the editor leaves them
 * out. Pure.
 */
import { isRecord } from '../../../api/record.ts';

/**
 * `number` also admits text, because a form stores what somebody is typing. `object` admits any members. A
 * tuple is a list of that type. Members of a record may be missing.
 */
type ValueType =
  | 'text'
  | 'number'
  | 'object'
  | readonly [ValueType]
  | { readonly [member: string]: ValueType };

const TOOL: ValueType = {
  name: 'text',
  skill: 'text',
  workflow: 'text',
  credential: 'text',
  description: 'text',
  parameters: 'object',
  modelMaySet: 'object',
};
const AGENT: ValueType = {
  credential: 'text',
  model: 'text',
  prompt: 'text',
  systemPrompt: 'text',
  tools: [TOOL],
  fallback: ['object'],
  memory: 'object',
  outputSchema: 'object',
};
const NODE: ValueType = {
  displayName: 'text',
  within: 'text',
  manual: 'object',
  webhook: { path: 'text', auth: 'object', headers: ['text'] },
  schedule: { cron: 'text', timeZone: 'text' },
  mail: 'object',
  spreadsheet: 'object',
  fileStorage: 'object',
  bot: 'object',
  chat: { title: 'text', welcome: 'text', suggestions: ['text'], tokenRefs: ['object'] },
  agent: AGENT,
  skill: { name: 'text', credential: 'text', parameters: 'object' },
  response: { headers: 'object' },
  group: 'object',
  wait: { duration: 'text', until: 'text', callback: 'object' },
  workflow: { name: 'text' },
  fail: { reason: 'text', message: 'text' },
  code: { source: 'text' },
  retry: { backoff: 'object' },
  forEach: { items: 'text', maxParallel: 'number', batch: 'number', delay: 'text' },
  repeat: { until: 'text', limit: 'number', delay: 'text' },
  timeout: 'text',
  onError: 'text',
  effect: 'text',
};
const SPEC: ValueType = {
  displayName: 'text',
  description: 'text',
  timeout: 'text',
  recordData: 'text',
  timeZone: 'text',
  onFailure: { workflow: 'text' },
  budget: 'object',
  concurrency: 'object',
  history: 'object',
  nodes: [NODE],
  edges: [{ when: 'text', after: 'text' }],
};

const TYPE_NAMES = { text: 'text', number: 'a number', object: 'an object' } as const;

/** `path` leads from the spec to the value. `message` is a sentence for the user. */
export type DisplayProblem = { path: (string | number)[]; message: string };

/** Twice the most edges that a workflow can have. The layout of more would take minutes. */
const MOST = 600;

/** Deeper values would exceed the stack of those who compare, print or draw them. */
const DEEPEST = 200;

/**
 * The first value of a wrong type, the list of nodes or edges that is too long, or the spec if it is nested
 * too deeply. Undefined if there is none.
 */
export function displayProblemIn(spec: unknown): DisplayProblem | undefined {
  return tooDeep(spec) ?? wrongTypeAt(spec, SPEC, []) ?? tooMany(spec as Lists);
}

type Lists = { nodes?: unknown[]; edges?: unknown[] };

/** Without edges the nodes are a chain, which has as many. */
function tooMany({ nodes = [], edges = [] }: Lists): DisplayProblem | undefined {
  const name = edges.length > MOST ? 'edges' : nodes.length > MOST ? 'nodes' : undefined;
  if (name === undefined) return undefined;
  return { path: [name], message: `${name} must be at most ${MOST}: the canvas cannot show more.` };
}

function tooDeep(spec: unknown): DisplayProblem | undefined {
  if (!isTooDeep(spec)) return undefined;
  return { path: [], message: `The workflow is nested more than ${DEEPEST} levels deep.` };
}

/** Whether a value is nested too deeply to be shown. Also of one that contains itself, as in YAML. */
export function isTooDeep(value: unknown, levels = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isTooDeep(each, levels - 1));
}

function wrongTypeAt(value: unknown, type: ValueType, path: (string | number)[]): DisplayProblem | undefined {
  if (value === undefined || hasType(value, type)) return wrongTypeInside(value, type, path);
  const last = path.at(-1) ?? 'spec';
  const name = typeof last === 'number' ? `${path.at(-2) ?? ''}[${last}]` : last;
  return { path, message: `${name} must be ${nameOfType(type)}.` };
}

function nameOfType(type: ValueType): string {
  if (typeof type === 'string') return TYPE_NAMES[type];
  return Array.isArray(type) ? 'a list' : TYPE_NAMES.object;
}

function hasType(value: unknown, type: ValueType): boolean {
  if (type === 'text') return typeof value === 'string';
  if (type === 'number') return typeof value === 'number' || typeof value === 'string';
  return Array.isArray(type) ? Array.isArray(value) : isRecord(value);
}

function wrongTypeInside(
  value: unknown,
  type: ValueType,
  path: (string | number)[],
): DisplayProblem | undefined {
  if (typeof type === 'string' || value === undefined) return undefined;
  const members: [string | number, ValueType][] = isList(type)
    ? (value as unknown[]).map((_each, index) => [index, type[0]])
    : Object.entries(type);
  for (const [name, member] of members) {
    const found = wrongTypeAt((value as Record<string | number, unknown>)[name], member, [...path, name]);
    if (found) return found;
  }
  return undefined;
}

function isList(type: ValueType): type is readonly [ValueType] {
  return Array.isArray(type);
}
