/**
 * Compares a complete list of files with the known items, in any order of both, over one or several polls.
 */
import * as z from 'zod';
import { KnownList, type Known } from '../contract/known.ts';
import type { Change, Extent, SeenFile } from '../contract/source.ts';

/** Where a walk continues. */
export const place = z.object({
  /** The store's own word for it; left out: at the beginning of the list. */
  token: z.string().max(2_048).optional(),
  /** How many of the known files lie before that. */
  at: z.int().min(0),
  /**
   * While a trigger begins: only files that changed from that time on are new, in milliseconds since 1970; 0:
   * none is.
   */
  since: z.number().optional(),
});
export type Place = z.infer<typeof place>;

/** Where a trigger begins. */
export function firstPlace(since?: Date): Place {
  return { at: 0, since: since?.getTime() ?? 0 };
}

export type Walk = {
  changes: readonly Change[];
  /** The next file of the list; `time`: when it changed. */
  pass(file: SeenFile, time: number): void;
  /**
   * What is known now, where it is something else, and how many files of it lie before where the walk has
   * come.
   */
  end(isWhole: boolean): { known?: Known; at: number };
};

/**
 * Goes on from there. What is known may stand in another order than the list has: what the list has not come
 * to yet stays known.
 */
export function walk(from: Place, { known }: Pick<Extent, 'known'>): Walk {
  const { since } = from;
  const changes: Change[] = [];
  const list = new KnownList();
  const begin = Math.min(from.at, known.count);
  const isListed = new Uint8Array(known.count);
  let next = begin;
  let isOther = false;
  list.take(known, 0, begin);
  return {
    changes,
    pass: (file, time) => {
      const index = known.indexOf(file.id);
      // Pages shift while others make files: what was listed before counts.
      if (index >= 0 && (index < begin || isListed[index])) return;
      const isSame = index >= 0 && known.hasVersion(index, file.version);
      list.push(file.id, file.version);
      if (index >= 0) isListed[index] = 1;
      if (index === next && isSame) next += 1;
      else isOther = true;
      if (isSame || (since !== undefined && (since === 0 || time < since))) return;
      changes.push({ event: index < 0 ? 'added' : 'modified', file });
    },
    end: (isWhole) => {
      const at = list.count;
      if (isWhole && next < known.count) isOther = true;
      if (!isWhole && isOther) list.takeUnmarked(known, isListed, begin);
      return { at, ...(isOther && { known: list.known() }) };
    },
  };
}

/** Oldest first. */
export function inOrder(changes: readonly Change[]): Change[] {
  return changes.toSorted((a, b) => Date.parse(a.file.modified) - Date.parse(b.file.modified));
}
