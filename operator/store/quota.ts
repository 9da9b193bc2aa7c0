/** How much of the run store each project may fill. Pure. */
import type { Memory } from '../../runs/memory.ts';

/** Of the server's limit: beyond it nothing new is accepted, so that what runs has room to end. */
const ACCEPTED_SHARE = 0.6;
/** Of the server's limit: what all projects together may hold in any case, so that a neighbour's flood shuts nobody out. */
const KEPT_SHARE = 0.1;
/** The most that one project may hold, and what it may where the server has no limit. */
const LARGEST_BYTES = 256 * 1024 * 1024;

/**
 * Above how many bytes the runs of a project are refused. Until the next look a project may take half of what is free, so that
 * a flood leaves room for others; never more than half of all; and always its part of what is kept for everybody.
 */
export function quotaOf({ used, max }: Memory, bytes: number, projects: number): number {
  if (max === 0) return LARGEST_BYTES;
  const all = max * ACCEPTED_SHARE;
  const free = Math.max(0, all - used);
  const least = (max * KEPT_SHARE) / Math.max(1, projects);
  return Math.floor(Math.max(least, Math.min(bytes + free / 2, all / 2, LARGEST_BYTES)));
}
