/** How much of the run store each project may fill. Pure. */
import type { Memory, Use } from '../../runs/usage.ts';
import type { Quotas } from '../../runs/limits.ts';
import { BESIDE_KEYS, SUMMARIES_KEPT } from '../../runs/room.ts';

/** Of the server's limit: beyond it nothing new is accepted, so that what runs has room to end. */
const ACCEPTED_SHARE = 0.6;
/** Of the server's limit: beyond it no further run is claimed, so that those that are claimed have room to grow. */
const CLAIMED_SHARE = 0.8;
/** Of the server's limit: what all projects together may hold in any case, so that a neighbour's flood shuts nobody out. */
const KEPT_SHARE = 0.1;
/** Of the server's limit: what the dedupe keys of all projects may take; they stay for days. Half of it is divided evenly. */
const KEYS_SHARE = 0.3;
/** The most that one project may hold, and what it may where the server has no limit. */
const LARGEST_BYTES = 256 * 1024 * 1024;
/** A summary, as a rule. */
const SUMMARY_BYTES = 400;
/** Where the server has no limit claims need no room. */
const UNLIMITED_BYTES = 2 ** 50;

type Held = Pick<Use, 'bytes' | 'keys' | 'isBusy'>;

/**
 * The limits of each project until the next look. What is free is divided among the projects that are busy, with one part left over, so
 * that no flood takes all of it before the next look; each always has its part of what is kept for everybody.
 */
export function quotasOf({ used, max }: Memory, projects: readonly Held[]): Quotas[] {
  if (max === 0)
    return projects.map(() => ({
      quota: LARGEST_BYTES,
      claimQuota: UNLIMITED_BYTES,
      keyQuota: LARGEST_BYTES,
    }));
  const parts = Math.max(2, projects.filter(({ isBusy }) => isBusy).length + 1);
  const part = (share: number, taken: number) => Math.max(0, max * share - taken) / parts;
  const least = (max * KEPT_SHARE) / projects.length;
  const ownKeys = (max * KEYS_SHARE) / 2 / projects.length;
  const beyond = ({ keys }: Held) => Math.max(0, keys - ownKeys);
  const keysBeyond = projects.reduce((sum, project) => sum + beyond(project), 0);
  return projects.map((project) => {
    const { bytes } = project;
    const accepted = Math.min(bytes + part(ACCEPTED_SHARE, used), (max * ACCEPTED_SHARE) / 2, LARGEST_BYTES);
    const quota = Math.max(least, accepted);
    const claimed = Math.min(bytes + part(CLAIMED_SHARE, used), (max * CLAIMED_SHARE) / 2);
    return {
      quota: Math.floor(quota),
      // What is accepted never takes the room to execute it.
      claimQuota: Math.floor(Math.max(quota + least, claimed)),
      keyQuota: Math.floor(ownKeys + beyond(project) + part(KEYS_SHARE / 2, keysBeyond)),
    };
  });
}

export const LIMITS = ['quota', 'claims', 'keys'] as const;
/** From here on the next event may be the one too many. */
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

/** How many summaries a workflow may keep: fewer where those of its project take nearly all that they may. */
export function summariesOf({ summaries, keyQuota }: Use, workflows: number): number {
  const most = keyQuota * BESIDE_KEYS;
  if (most === 0 || summaries < most * 0.9) return SUMMARIES_KEPT;
  return Math.max(10, Math.floor(most / Math.max(1, workflows) / SUMMARY_BYTES));
}
