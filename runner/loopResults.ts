/** The results of the items of a loop, and the output of its node. */
import type { NodeOutput } from '../api/value.ts';
import { VALUE_LIMIT_BYTES } from '../runs/advance.ts';
import type { ExecutionState, Iteration, Loop } from './executionState.ts';
import type { FailedEnd } from './failure.ts';

/** The record lists the first failures, with shortened messages. */
const MAX_FAILURES = 10;
const FAILURE_MESSAGE_LENGTH = 300;

/** The text of the output repeats its data. */
export const RESULT_LIMIT_BYTES = Math.floor(VALUE_LIMIT_BYTES / 2) - 4_096;
export const RESULT_LIMIT_KIB = Math.floor(RESULT_LIMIT_BYTES / 1024);

/** Counts an ended item, and collects its result. */
export function noteItemEnd(
  state: ExecutionState,
  loop: Loop,
  index: number,
  result: { value: unknown } | { end: FailedEnd },
): void {
  loop.ended[index >> 3] = (loop.ended[index >> 3] ?? 0) | (1 << (index & 7));
  loop.hasNews = true;
  if ('value' in result) {
    loop.succeeded += 1;
    return collectResult(loop, index, result.value);
  }
  const { phase, reason, message } = result.end;
  loop.failed += 1;
  if (loop.failures.length < MAX_FAILURES)
    loop.failures.push({ index, reason, message: message.slice(0, FAILURE_MESSAGE_LENGTH) });
  const continues = state.plan.steps.get(loop.id)?.step.onError === 'Continue' && loop.items !== undefined;
  if (phase === 'Failed' && continues) return collectResult(loop, index, { error: { reason, message } });
  const text = loop.items ? `item ${index}: ${message}` : message;
  // A run that resumes this one executes the items of a failed loop again, but asks about one that is
  // Unknown.
  const isWorse = phase === 'Unknown' && loop.failure?.phase !== 'Unknown';
  if (!loop.failure || isWorse) loop.failure = { phase, reason, message: text };
}

function collectResult(loop: Loop, index: number, value: unknown): void {
  if (!loop.items || !loop.plan.collects || loop.isTooLarge) return;
  loop.results[index] = value;
  loop.resultBytes += bytesOf(value);
  if (loop.resultBytes <= RESULT_LIMIT_BYTES) return;
  loop.isTooLarge = true;
  loop.results.length = 0;
}

/** Collects the result of an execution of the item. */
export function collectExecution(iteration: Iteration, value: unknown): void {
  iteration.collectedBytes += bytesOf(value);
  if (iteration.collectedBytes <= RESULT_LIMIT_BYTES) iteration.collected.push(value);
  else iteration.collected.length = 0;
}

/** As an element of an array in JSON. */
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? 'null') + 1;

/** Whether the item has ended. */
export function hasItemEnded({ ended }: Loop, index: number): boolean {
  return ((ended[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
}

/** The result of an item: its data, or its text if it has none. */
export function resultOf({ data_content, text_content }: NodeOutput): unknown {
  return data_content ?? (text_content === '' ? null : text_content);
}

/** Whether all items have ended. */
export const isComplete = ({ succeeded, failed, total }: Loop) => succeeded + failed === total;

/** The failure of a loop whose items have ended, but whose results exceed the limit of an output. */
export function failureOfResults(loop: Loop): FailedEnd | undefined {
  if (!loop.isTooLarge) return undefined;
  const message = `all ${loop.total} items have ended, but their results exceed ${RESULT_LIMIT_KIB} KiB: set forEach.collect to None, or let each item return less`;
  return { phase: 'Failed', reason: 'OutputTooLarge', message };
}

/** The output of the node when all items have ended. */
export function outputOfLoop(loop: Loop): NodeOutput {
  if (!loop.items) return loop.results[0] as NodeOutput;
  if (!loop.plan.collects) return { text_content: '', data_content: null };
  return { text_content: textOfLoop(loop), data_content: loop.results };
}

function textOfLoop({ total, failed }: Loop): string {
  const items = `${total} item${total === 1 ? '' : 's'}`;
  return failed === 0 ? `${items} succeeded.` : `${failed} of ${items} failed.`;
}
