/** The share of the run store of each project. Pure. */
import type { ServerMemory, Use } from '../../runs/storeUse.ts';
import type { Quotas } from '../../runs/limits.ts';
import { BESIDE_KEYS, SUMMARIES_KEPT } from '../../runs/room.ts';

/** Of the server's limit: beyond it no event is accepted, so that runs have room to end. */
const ACCEPTED_SHARE = 0.6;
/** Of the server's limit: beyond it no further run is claimed, so that claimed runs have room to grow. */
const CLAIMED_SHARE = 0.8;
/** Of the server's limit: reserved for all projects together, so that a flood in one excludes no other. */
const RESERVED_SHARE = 0.1;
/**
 * Of the server's limit: for the dedupe keys of all projects, which stay for days. Half of it is divided
 * evenly.
 */
const KEYS_SHARE = 0.3;
/** The most that one project may use, also if the server has no limit. */
const LARGEST_BYTES = 256 * 1024 * 1024;
/** The usual size of a summary. */
const SUMMARY_BYTES = 400;
/** Unfinished runs of the cluster that are recorded: their objects take a few KiB each of the API server. */
const UNFINISHED = 20_000;
/** Without a limit of the server, claims need no reserve. */
const UNLIMITED_BYTES = 2 ** 50;

type Used = Pick<Use, 'bytes' | 'keys' | 'recorded' | 'isBusy'>;

/**
 * The limits of each project until the next update. Free memory is divided among the busy projects, with one
 * part left over, so that no flood takes all of it before the next update; each project always has its part
 * of the reserve.
 */
export function quotasOf({ used, max }: ServerMemory, projects: readonly Used[]): Quotas[] {
  const left = Math.max(0, UNFINISHED - projects.reduce((sum, { recorded }) => sum + recorded, 0));
  const unfinishedOf = ({ recorded }: Used) => recorded + Math.floor(left / (projects.length + 1));
  if (max === 0)
    return projects.map((project) => ({
      quota: LARGEST_BYTES,
      claimQuota: UNLIMITED_BYTES,
      keyQuota: LARGEST_BYTES,
      unfinished: unfinishedOf(project),
    }));
  const parts = Math.max(2, projects.filter(({ isBusy }) => isBusy).length + 1);
  const part = (share: number, taken: number) => Math.max(0, max * share - taken) / parts;
  const least = (max * RESERVED_SHARE) / projects.length;
  const ownKeys = (max * KEYS_SHARE) / 2 / projects.length;
  const beyond = ({ keys }: Used) => Math.max(0, keys - ownKeys);
  const keysBeyond = projects.reduce((sum, project) => sum + beyond(project), 0);
  return projects.map((project) => {
    const { bytes } = project;
    const accepted = Math.min(bytes + part(ACCEPTED_SHARE, used), (max * ACCEPTED_SHARE) / 2, LARGEST_BYTES);
    const quota = Math.max(least, accepted);
    const claimed = Math.min(bytes + part(CLAIMED_SHARE, used), (max * CLAIMED_SHARE) / 2);
    return {
      quota: Math.floor(quota),
      // Accepted events never take the room that their execution needs.
      claimQuota: Math.floor(Math.max(quota + least, claimed)),
      keyQuota: Math.floor(ownKeys + beyond(project) + part(KEYS_SHARE / 2, keysBeyond)),
      unfinished: unfinishedOf(project),
    };
  });
}

/**
 * The limits of projects on several servers, each by the memory of its own. How many unfinished runs are
 * recorded is for all together. Undefined where the memory of the server is not known.
 */
export function quotasOfServers(
  memories: ReadonlyMap<string, ServerMemory>,
  projects: readonly { server: string | undefined; use: Used }[],
): (Quotas | undefined)[] {
  const everywhere = quotasOf({ used: 0, max: 0 }, usesOf(projects));
  const found = new Map<object, Quotas>();
  for (const [server, memory] of memories) {
    const own = projects.filter((project) => project.server === server);
    for (const [index, quotas] of quotasOf(memory, usesOf(own)).entries())
      found.set(own[index] ?? {}, quotas);
  }
  return projects.map((project, index) => {
    const quotas = found.get(project);
    return quotas && { ...quotas, unfinished: everywhere[index]?.unfinished ?? quotas.unfinished };
  });
}

function usesOf(projects: readonly { use: Used }[]): Used[] {
  return projects.map(({ use }) => use);
}

/** Of several servers the one with the least room: the part of its limit that is used is the greatest. */
export function fullestOf(memories: Iterable<ServerMemory>): ServerMemory {
  const all = [...memories];
  const part = ({ used, max }: ServerMemory) => (max === 0 ? 0 : used / max);
  return all.toSorted((one, other) => part(other) - part(one))[0] ?? { used: 0, max: 0 };
}

export const LIMITS = ['quota', 'claims', 'keys'] as const;
/** From this share on, the next event may exceed the limit. */
const REACHED = 0.98;

/** The limits that a project has reached. */
export function limitsReached(use: Use): (typeof LIMITS)[number][] {
  const { bytes, quota, keys, keyQuota, isShort } = use;
  const isFull = {
    quota: bytes > quota * REACHED,
    claims: isShort,
    keys: keyQuota > 0 && keys > keyQuota * REACHED,
  };
  return LIMITS.filter((limit) => isFull[limit]);
}

/** The number of summaries of a workflow: fewer if those of its project use nearly all of their share. */
export function summariesOf({ summaries, keyQuota }: Use, workflows: number): number {
  const most = keyQuota * BESIDE_KEYS;
  if (most === 0 || summaries < most * 0.9) return SUMMARIES_KEPT;
  return Math.max(10, Math.floor(most / Math.max(1, workflows) / SUMMARY_BYTES));
}
