/** What a list of runs is asked for: how many, of which phase, and from where. */
import { RUN_PHASES, type RunPhase } from '../../api/run.ts';
import type { Position } from '../../runs/list.ts';
import { isName } from './guard.ts';

export type ListQuery = { limit: number; phase?: RunPhase; after?: Position };

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;

/** Undefined if the query makes no sense. Parameters that are not known are left alone. */
export function readListQuery(query: unknown): ListQuery | undefined {
  const { limit, phase, continue: token } = query as Record<string, unknown>;
  const count = limit === undefined ? DEFAULT_LIMIT : readLimit(limit);
  const after = token === undefined ? undefined : parsePosition(token);
  const wanted = RUN_PHASES.find((known) => known === phase);
  if (count === undefined) return undefined;
  if (token !== undefined && after === undefined) return undefined;
  if (phase !== undefined && wanted === undefined) return undefined;
  return { limit: count, ...(wanted && { phase: wanted }), ...(after && { after }) };
}

function readLimit(text: unknown): number | undefined {
  if (typeof text !== 'string' || !/^[1-9]\d{0,2}$/.test(text)) return undefined;
  return Number(text) <= MAX_LIMIT ? Number(text) : undefined;
}

/** A position as the token of the next page. Callers make nothing of it. */
export function positionToken({ at, run }: Position): string {
  return Buffer.from(`1 ${at} ${run}`).toString('base64url');
}

/** Undefined if it is no token of ours. */
function parsePosition(token: unknown): Position | undefined {
  if (typeof token !== 'string' || token.length > 512) return undefined;
  const text = Buffer.from(token, 'base64url').toString();
  const [, at = '', run = ''] = /^1 (\d{1,16}) (\S+)$/.exec(text) ?? [];
  const position = { at: Number(at), run };
  return isName(run) && positionToken(position) === token ? position : undefined;
}
