/** Compares the current state of some files, as a store reports it, with the known items. */
import { KnownList, type Known } from '../contract/known.ts';
import type { Change, SeenFile } from '../contract/source.ts';
import { inOrder } from './walk.ts';

/**
 * By the id of each file how it is; undefined: it is gone, or lies elsewhere. `isNew`: whether a file that is
 * not known as it is starts something.
 */
export function compared(
  latest: ReadonlyMap<string, SeenFile | undefined>,
  known: Known,
  isNew: (file: SeenFile) => boolean = () => true,
): { changes: Change[]; known?: Known } {
  const changes: Change[] = [];
  const added: SeenFile[] = [];
  /** Of files that were known: what stands in their place. */
  const instead = new Map<number, SeenFile | undefined>();
  for (const [id, file] of latest) {
    const index = known.indexOf(id);
    if (file && index >= 0 && known.hasVersion(index, file.version)) continue;
    if (index >= 0) instead.set(index, file);
    else if (file) added.push(file);
    if (file && isNew(file)) changes.push({ event: index < 0 ? 'added' : 'modified', file });
  }
  if (added.length === 0 && instead.size === 0) return { changes };
  return { changes: inOrder(changes), known: replaced(known, instead, added) };
}

/**
 * The same while a store walks all that there is, in several polls: what was listed by them stands before
 * `at`. Once that is the whole of it, what was not listed is gone.
 */
export function gathered(
  latest: ReadonlyMap<string, SeenFile | undefined>,
  known: Known,
  { at, isWhole, isNew }: { at: number; isWhole: boolean; isNew: (file: SeenFile) => boolean },
): { changes: Change[]; known: Known; at: number } {
  const changes: Change[] = [];
  const isListed = new Uint8Array(known.count);
  for (const [id, file] of latest) {
    const index = known.indexOf(id);
    if (index >= 0) isListed[index] = 1;
    const isSame = file && index >= 0 && known.hasVersion(index, file.version);
    if (file && !isSame && isNew(file)) changes.push({ event: index < 0 ? 'added' : 'modified', file });
  }
  const list = new KnownList();
  const begin = Math.min(at, known.count);
  list.takeUnmarked(known, isListed, 0, begin);
  for (const file of latest.values()) if (file) list.push(file.id, file.version);
  const { count } = list;
  if (!isWhole) list.takeUnmarked(known, isListed, begin);
  return { changes: inOrder(changes), known: list.known(), at: count };
}

function replaced(
  known: Known,
  instead: ReadonlyMap<number, SeenFile | undefined>,
  added: readonly SeenFile[],
): Known {
  const list = new KnownList();
  let next = 0;
  for (const [index, file] of [...instead].toSorted(([a], [b]) => a - b)) {
    list.take(known, next, index);
    if (file) list.push(file.id, file.version);
    next = index + 1;
  }
  list.take(known, next);
  for (const { id, version } of added) list.push(id, version);
  return list.known();
}
