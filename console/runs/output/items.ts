/** The items of a loop, as far as its output and its counts tell. Pure. */
import { isRecord } from '../../../api/record.ts';
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
