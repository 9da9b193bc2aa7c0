/** Calls of the run store in the short form that tests need. */
import { poolAccount } from '../../../store/accounts.ts';
import type { RunGroup } from '../../../store/groups.ts';
import { setQuotas } from '../../../runs/limits.ts';

import type { ProjectUid } from '../../../store/keys.ts';
import { keysOf } from '../../../store/keys.ts';
import type { TooLarge, Seen } from '../../../runs/types/advance.ts';
import type { ClaimRef, Fenced, Rewound } from '../../../runs/types/claim.ts';
import type { NodeStart, NodeState } from '../../../runs/types/node.ts';
import type { Reply, RunEnd } from '../../../runs/types/result.ts';
import type { RunSummary } from '../../../runs/types/summary.ts';
import type { RunStoreConnection, Unavailable } from '../../../store/connection.ts';
import { orUnavailable } from '../../../store/connection.ts';
import { advance } from '../../../runs/advance.ts';

/** Stores the mark before a node's effect. */
export async function startNode(conn: RunStoreConnection, ref: ClaimRef, node: NodeStart): Promise<Fenced> {
  return neverTooLarge(alwaysFits(await advance(conn, ref, { starts: [node] })));
}

/** Stores what finished nodes produced, and the reply. */
export async function checkpoint(
  conn: RunStoreConnection,
  ref: ClaimRef,
  nodes: NodeState[],
  { reply }: { reply?: Reply } = {},
): Promise<Fenced | TooLarge> {
  return alwaysFits(await advance(conn, ref, { checkpoints: nodes, ...(reply && { reply }) }));
}

/** Ends the run, once and for all. */
export async function finish(conn: RunStoreConnection, ref: ClaimRef, end: RunEnd): Promise<Fenced> {
  return neverTooLarge(alwaysFits(await advance(conn, ref, { end })));
}

/** Above how many bytes `submit` refuses; runs that were accepted continue. */
export function setQuota(
  conn: RunStoreConnection,
  project: ProjectUid,
  bytes: number,
): ReturnType<typeof setQuotas> {
  return setQuotas(conn, project, { quota: bytes });
}

/** Summaries of the live runs, or the test runs, that have left the store, the last accepted first. */
export function readSummaries(
  conn: RunStoreConnection,
  project: ProjectUid,
  group: RunGroup,
  limit: number,
): Promise<RunSummary[] | Unavailable> {
  const { summarized, summaries } = keysOf(project);
  return orUnavailable(async () => {
    const names = (await conn.command('zrange', summarized(group), 0, limit - 1, 'rev')) as string[];
    if (names.length === 0) return [];
    const texts = await conn.command('hmget', summaries(group), ...names);
    return (texts as (string | null)[])
      .filter((text) => text !== null)
      .map((text) => JSON.parse(text) as RunSummary);
  });
}

/** Whether the account exists. */
export function hasPoolAccount(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<boolean | Unavailable> {
  return orUnavailable(async () => (await conn.command('acl', 'getuser', poolAccount(project))) !== null);
}

/** A step without `follows` is never `rewound`, one without `remember` never `seen`. */
function alwaysFits(outcome: Fenced | TooLarge | Rewound | Seen): Fenced | TooLarge {
  if (outcome.outcome === 'rewound' || outcome.outcome === 'seen')
    throw new Error(`a step that compares nothing is ${outcome.outcome}`);
  return outcome;
}

function neverTooLarge(outcome: Fenced | TooLarge): Fenced {
  if (outcome.outcome === 'too-large') throw new Error('a mark or an end is larger than a value may be');
  return outcome;
}
