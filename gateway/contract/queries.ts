/** Query parameters and preferences of execute and list calls. */
import * as z from 'zod';
import { NODE_ID } from '../../api/graph.ts';
import { RUN_PHASES, type RunPhase } from '../../api/phase.ts';
import type { Position } from '../../runs/list.ts';

export const executeQuery = z.object({
  test: z
    .enum(['true', 'false'])
    .optional()
    .describe('Starts a test run, also of an inactive workflow. Its effects are real.'),
  until: z
    .string()
    .regex(NODE_ID)
    .optional()
    .describe(
      'Only with test=true: ID of the node after which the run stops. Nodes that it does not depend on are skipped.',
    ),
  as: z
    .enum(['data', 'output'])
    .optional()
    .describe(
      'Only with test=true. "output": the body is the whole output of the trigger, {text_content, data_content}, instead of its data_content. Missing members are empty.',
    ),
});

export type ExecuteQuery = { test: boolean; until?: string; isOutput?: true };

/** Undefined for an invalid query. Unknown parameters are ignored. */
export function readExecuteQuery(query: unknown): ExecuteQuery | undefined {
  const read = executeQuery.safeParse(query);
  if (!read.success) return undefined;
  const { until, as } = read.data;
  if (read.data.test !== 'true') return until === undefined && as === undefined ? { test: false } : undefined;
  return {
    test: true,
    ...(until !== undefined && { until }),
    ...(as === 'output' && { isOutput: true as const }),
  };
}

/** The query of a list, after its numbers are parsed. */
export const listQuery = z.object({
  limit: z.int().min(1).max(500).default(50).describe('Maximum number of runs in a page.'),
  phase: z.enum(RUN_PHASES).optional().describe('Only runs in this phase.'),
  continue: z
    .string()
    .max(270)
    .regex(/^\d{1,16}\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
    .optional()
    .describe('The value from the previous page, unchanged. Its format may change.'),
});

export type ListQuery = { limit: number; phase?: RunPhase; after?: Position };

/** Undefined for an invalid query. Unknown parameters are ignored. */
export function readListQuery(query: unknown): ListQuery | undefined {
  const { limit, ...rest } = query as Record<string, unknown>;
  const read = listQuery.safeParse({ ...rest, ...(limit !== undefined && { limit: readNumber(limit) }) });
  if (!read.success) return undefined;
  const { phase, continue: token } = read.data;
  return {
    limit: read.data.limit,
    ...(phase && { phase }),
    ...(token !== undefined && { after: positionOf(token) }),
  };
}

/** Anything but a plain decimal becomes a string that the schema refuses. */
function readNumber(text: unknown): number | string {
  return typeof text === 'string' && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 'none';
}

/** The token of the next page. */
export function positionToken({ at, run }: Position): string {
  return `${at}.${run}`;
}

function positionOf(token: string): Position {
  const dot = token.indexOf('.');
  return { at: Number(token.slice(0, dot)), run: token.slice(dot + 1) };
}

export const memoriesQuery = z.object({
  limit: z.int().min(1).max(500).default(100).describe('Maximum number of memories.'),
  contains: z
    .string()
    .max(512)
    .optional()
    .describe(
      'Only memories whose key contains this text; for callers who may get WorkflowRuns, also those whose first prompt contains it, among the 500 that were used last.',
    ),
});

/** Undefined for an invalid query. Unknown parameters are ignored. */
export function readMemoriesQuery(query: unknown): z.infer<typeof memoriesQuery> | undefined {
  const { limit, ...rest } = query as Record<string, unknown>;
  return memoriesQuery.safeParse({ ...rest, ...(limit !== undefined && { limit: readNumber(limit) }) }).data;
}

export const memoryQuery = z.object({
  test: z.enum(['true', 'false']).optional().describe('Reads the memory of test runs.'),
});

/** Undefined for an invalid query. Unknown parameters are ignored. */
export function readMemoryQuery(query: unknown): { test: boolean } | undefined {
  const read = memoryQuery.safeParse(query);
  return read.success ? { test: read.data.test === 'true' } : undefined;
}

/** In seconds. */
const MAX_WAIT = 300;

/**
 * Seconds of `Prefer: wait=N` (RFC 7240, section 4.3), at most 300; undefined if the caller does not wait.
 * Invalid preferences are ignored.
 */
export function preferredWait(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header.join(',') : header;
  for (const preference of (text ?? '').split(',')) {
    const seconds = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;|$)/i.exec(preference)?.[1];
    if (seconds !== undefined) return Number(seconds) > 0 ? Math.min(Number(seconds), MAX_WAIT) : undefined;
  }
  return undefined;
}
