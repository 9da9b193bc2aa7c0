/** What a list of runs is asked for: how many, of which phase, and from where. */
import * as z from 'zod';
import { RUN_PHASES, type RunPhase } from '../../api/phase.ts';
import type { Position } from '../../runs/list.ts';

/** The query of the list, once its numbers are read. */
export const listQuery = z.object({
  limit: z.int().min(1).max(500).default(50).describe('How many runs a page has at most.'),
  phase: z.enum(RUN_PHASES).optional().describe('Leaves out the runs of all other phases.'),
  continue: z
    .string()
    .max(270)
    .regex(/^\d{1,16}\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
    .optional()
    .describe('What the page before gave, as it is. Nothing is to be made of its form.'),
});

export type ListQuery = { limit: number; phase?: RunPhase; after?: Position };

/** Undefined if the query makes no sense. Parameters that are not known are left alone. */
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

/** All but plain decimals stays something that is no number. */
function readNumber(text: unknown): number | string {
  return typeof text === 'string' && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 'none';
}

/** A position as the token of the next page. */
export function positionToken({ at, run }: Position): string {
  return `${at}.${run}`;
}

function positionOf(token: string): Position {
  const dot = token.indexOf('.');
  return { at: Number(token.slice(0, dot)), run: token.slice(dot + 1) };
}
