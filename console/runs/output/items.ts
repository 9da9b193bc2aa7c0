/** The items of a loop, as far as its output and its counts tell. Pure. */
import { ExpressionError } from '../../../api/expression/errors.ts';
import { evaluate } from '../../../api/expression/evaluate.ts';
import { compileValue } from '../../../api/expression/template.ts';
import { isRecord } from '../../../api/record.ts';
import { MAX_DEPTH } from '../../../api/scopes.ts';
import type { ItemCounts } from '../live/nodeView.ts';
import type { Output } from './outputTree.ts';

/** One item: its result, or why it failed. Neither: the record does not say. */
export type Item = { index: number; output?: Output; failure?: { reason: string; message: string } };

/** How many items the loop has; 0 if that is unknown. */
export function itemTotal(output: Output | undefined, items: ItemCounts | undefined): number {
  const results = resultsOf(output);
  return items?.total ?? results?.length ?? 0;
}

export function itemAt(output: Output | undefined, items: ItemCounts | undefined, index: number): Item {
  const result = resultsOf(output)?.[index];
  const failure = items?.failures?.find((each) => each.index === index) ?? failureIn(result);
  if (failure !== undefined) {
    const { reason, message } = failure;
    return { index, failure: { reason, message } };
  }
  return result === undefined ? { index } : { index, output: { data_content: result } };
}

/** The results that the loop collected, in the order of the items. */
function resultsOf(output: Output | undefined): unknown[] | undefined {
  return Array.isArray(output?.data_content) ? output.data_content : undefined;
}

/** The result of an item that failed with `onError: Continue`. */
function failureIn(result: unknown): { reason: string; message: string } | undefined {
  if (!isRecord(result) || !isRecord(result['error']) || Object.keys(result).length !== 1) return undefined;
  const { reason, message } = result['error'];
  return typeof reason === 'string' && typeof message === 'string' ? { reason, message } : undefined;
}

/** An item of a loop, as a node of its body reads it (`$item`). */
export type LoopItem = { loop: string; index: number; value: unknown };

/** The loop around a node, as its revision has it. */
export type LoopAround = { id: string; items: string; batch: number };

/**
 * The item with that index; undefined where it is not known, for example if the list is no longer recorded,
 * or is itself a part of an item.
 */
export function loopItem(
  { id, items, batch }: LoopAround,
  nodes: ReadonlyMap<string, { output?: Output | undefined }>,
  index: number,
): LoopItem | undefined {
  try {
    const node = (giver: string) => nodes.get(giver)?.output;
    const list = evaluate(compileValue(items), { node });
    const start = index * batch;
    if (!Array.isArray(list) || start >= list.length) return undefined;
    const value: unknown = batch === 1 ? list[index] : list.slice(start, start + batch);
    return { loop: id, index, value };
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

/** A node as far as the items of loops need it. */
export type LoopNode = { id: string; within: string | undefined; isCall: boolean; hasItems: boolean };

/**
 * The workflow nodes that are executed once for each item of the loop: the loop itself, or those of its body.
 * Those of a loop inside it have items of their own.
 */
export function callsOfItems(nodes: readonly LoopNode[], loop: string): string[] {
  const isInItem = ({ id, within, hasItems }: LoopNode, most = MAX_DEPTH): boolean => {
    if (id === loop) return true;
    if (hasItems || within === undefined || most === 0) return false;
    const group = nodes.find((node) => node.id === within);
    return group !== undefined && isInItem(group, most - 1);
  };
  return nodes.filter((node) => node.isCall && isInItem(node)).map(({ id }) => id);
}
