/**
 * Whether the values of a spec have the types that the canvas and the forms show. YAML that is being typed,
 * and drafts of other programs, may hold anything; what else is wrong with them is a problem of the draft.
 * Without the schemas, which only the bundled editor has. Pure.
 */
import { isRecord } from '../../../api/record.ts';

/** `number` also admits text: a form may hold what somebody is typing. `object`: with any members. */
type Shape = 'text' | 'number' | 'object' | readonly [Shape] | { readonly [member: string]: Shape };

// Each member may be left out.
const TOOL: Shape = {
  name: 'text',
  skill: 'text',
  workflow: 'text',
  credential: 'text',
  description: 'text',
  parameters: 'object',
  modelMaySet: 'object',
};
const AGENT: Shape = {
  credential: 'text',
  model: 'text',
  prompt: 'text',
  systemPrompt: 'text',
  tools: [TOOL],
  fallback: ['object'],
  memory: 'object',
  outputSchema: 'object',
};
const NODE: Shape = {
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
const SPEC: Shape = {
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

const WORDS = { text: 'text', number: 'a number', object: 'an object' } as const;

/** `path`: from the spec to the value. */
export type Misshapen = { path: (string | number)[]; message: string };

/** A workflow can have half as many. The layout of more would take minutes. */
const MOST_EDGES = 600;

/** The first value that cannot be shown: of a wrong type, or too many edges. Undefined if there is none. */
export function misshapenIn(spec: unknown): Misshapen | undefined {
  return find(spec, SPEC, []) ?? tooManyEdges(spec as { edges?: unknown[] });
}

function tooManyEdges({ edges = [] }: { edges?: unknown[] }): Misshapen | undefined {
  if (edges.length <= MOST_EDGES) return undefined;
  return { path: ['edges'], message: `edges must be at most ${MOST_EDGES}: the canvas cannot show more.` };
}

function find(value: unknown, shape: Shape, path: (string | number)[]): Misshapen | undefined {
  if (value === undefined || hasType(value, shape)) return inside(value, shape, path);
  const last = path.at(-1) ?? 'spec';
  const name = typeof last === 'number' ? `${path.at(-2) ?? ''}[${last}]` : last;
  return { path, message: `${name} must be ${wordsOf(shape)}.` };
}

function wordsOf(shape: Shape): string {
  if (typeof shape === 'string') return WORDS[shape];
  return Array.isArray(shape) ? 'a list' : WORDS.object;
}

function hasType(value: unknown, shape: Shape): boolean {
  if (shape === 'text') return typeof value === 'string';
  if (shape === 'number') return typeof value === 'number' || typeof value === 'string';
  return Array.isArray(shape) ? Array.isArray(value) : isRecord(value);
}

function inside(value: unknown, shape: Shape, path: (string | number)[]): Misshapen | undefined {
  if (typeof shape === 'string' || value === undefined) return undefined;
  const members: [string | number, Shape][] = isList(shape)
    ? (value as unknown[]).map((_each, index) => [index, shape[0]])
    : Object.entries(shape);
  for (const [name, member] of members) {
    const found = find((value as Record<string | number, unknown>)[name], member, [...path, name]);
    if (found) return found;
  }
  return undefined;
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}
