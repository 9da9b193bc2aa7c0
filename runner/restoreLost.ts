/**
 * Loops that were in progress when the run store lost its data. The record has which items had ended, but
 * neither their results nor what items in progress had done.
 */
import type { ItemCounts, NodeState } from '../runs/types/node.ts';
import type { ExecutionState, Loop, ScopeState } from './executionState.ts';
import { hasItemEnded, noteItemEnd } from './loopResults.ts';
import { hasAtMostOnceEffect } from './plan.ts';

/** Ranges of undecided items that a message lists. */
const LISTED_RANGES = 20;

/**
 * Notes the items that had ended: they are not repeated. Fails the loop as `Unknown` if items in progress may
 * have had an effect that must not be repeated, and as `DataLost` if results are lost that it collects.
 * `node`: the stored state of the loop; undefined if it has not begun.
 */
export function restoreLost(state: ExecutionState, loop: Loop, node: NodeState | undefined): void {
  // Only a node that was in progress in the record has a start mark: a loop of this run store has none.
  const isRestored = node?.mark !== undefined;
  if (!loop.items) {
    loop.isInDoubt = isRestored && hasAtMostOnceEffect(state.plan, loop.id);
    return;
  }
  const counts = node?.items;
  if (counts && hasChanged(loop, counts)) return failAsChanged(loop, counts);
  const lost = counts ? noteEndedItems(state, loop, counts) : 0;
  const undecided = undecidedItems(state, loop, mostRunning(loop, node));
  if (undecided.length > 0) failAsUndecided(loop, undecided);
  if (lost > 0 && loop.plan.collects) {
    const message = `the run store lost its data, and with it the results of ${lost} of ${loop.total} items, which have ended. Start a new run for the other items`;
    loop.failure ??= { phase: 'Failed', reason: 'DataLost', message };
  }
}

/** How many items may have been in progress. */
function mostRunning(loop: Loop, node: NodeState | undefined): number | undefined {
  const counts = node?.items;
  if (counts && lacksEnded(counts)) return loop.total;
  return node?.mark === undefined ? 0 : counts?.running;
}

/** Whether the node may have been executed before the run store lost its data. */
export function isInDoubt(state: ExecutionState, scope: ScopeState, id: string): boolean {
  if (isInDoubtAt(state, scope, id)) return true;
  for (let at: ScopeState | undefined = scope; at; at = at.parent)
    if (at.iteration?.loop.isInDoubt) return true;
  return false;
}

/** Whether the run is in doubt about the node, and no decision says that the effect has not happened. */
function isInDoubtAt({ claim }: ExecutionState, scope: ScopeState, id: string): boolean {
  const { doubt, decisions = [] } = claim.state;
  if (!doubt) return false;
  let outermost = id;
  for (let at: ScopeState | undefined = scope; at?.iteration; at = at.parent)
    outermost = at.iteration.loop.id;
  // A run that was restored itself has no decisions: it may have executed decided nodes since.
  return !decisions.some(({ node, outcome }) => node === outermost && outcome === 'AssumeNotDone');
}

/** Returns how many items had ended whose results are lost. */
function noteEndedItems(
  state: ExecutionState,
  loop: Loop,
  { ended = '', failures, failed }: ItemCounts,
): number {
  const bits = Buffer.from(ended, 'base64');
  let lost = 0;
  for (let index = 0; index < loop.total; index += 1) {
    const wasEnded = ((bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
    if (!wasEnded || hasItemEnded(loop, index) || loop.active.has(index)) continue;
    lost += 1;
    const failure = failures.find((one) => one.index === index);
    if (!failure) noteItemEnd(state, loop, index, { value: null });
    else {
      const { reason, message } = failure;
      noteItemEnd(state, loop, index, {
        end: { phase: 'Failed', reason: reason, message },
      });
    }
  }
  // Only the first failures are in the record, and the counts of the others.
  const unlisted = Math.min(Math.max(0, failed - loop.failed), lost);
  loop.failed += unlisted;
  loop.succeeded -= unlisted;
  return lost;
}

/**
 * The items that may have had their effect. Items start in their order: those in progress were the first that
 * had not ended. A run that may have advanced after its record may have started all others too.
 */
function undecidedItems(state: ExecutionState, loop: Loop, running = 0): number[] {
  if (!hasAtMostOnceEffect(state.plan, loop.id)) return [];
  const most = isInDoubtAt(state, loop.scope, loop.id) ? loop.total : running;
  const undecided: number[] = [];
  for (let index = 0; index < loop.total && undecided.length < most; index += 1)
    if (!hasItemEnded(loop, index)) undecided.push(index);
  return undecided;
}

function failAsUndecided(loop: Loop, undecided: readonly number[]): void {
  const message = `the run store lost its data: ${listItems(undecided)} may have been executed, and must not be repeated. Check which were, then start a new run for the others`;
  loop.failure ??= { phase: 'Unknown', reason: 'EffectUnknown', message };
}

/** Whether items have ended, and the record had no room to say which. */
function lacksEnded({ succeeded, failed, ended }: ItemCounts): boolean {
  return ended === undefined && succeeded + failed > 0;
}

/** Whether the items are others than those of the record: a restored run has the current variables. */
function hasChanged({ total, itemsHash }: Loop, counts: ItemCounts): boolean {
  return counts.total !== total || (counts.hash !== undefined && counts.hash !== itemsHash);
}

function failAsChanged(loop: Loop, { total }: ItemCounts): void {
  const others =
    loop.total === total
      ? 'has other items now, because a variable of the project has changed'
      : `has ${loop.total} items now instead of ${total}`;
  const message = `the run store lost its data, and forEach.items ${others}: the items that have ended are unknown. Start a new run`;
  loop.failure ??= { phase: 'Failed', reason: 'DataLost', message };
}

/** `item 4`, or `items 1, 3 to 7, 9`. Ascending. */
function listItems(items: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const index of items) {
    const last = ranges.at(-1);
    if (last?.[1] === index - 1) last[1] = index;
    else ranges.push([index, index]);
  }
  const texts = ranges
    .slice(0, LISTED_RANGES)
    .map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`));
  const rest = ranges.slice(LISTED_RANGES).reduce((sum, [first, last]) => sum + last - first + 1, 0);
  return `${items.length === 1 ? 'item' : 'items'} ${texts.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
