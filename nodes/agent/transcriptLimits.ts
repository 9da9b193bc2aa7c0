/** What the run store holds of the calls of an agent: limits of results, and of all calls together. Pure. */
import { StepError } from '../../api/reasons.ts';

/** What is stored and shown to the model of a result, in bytes. */
const RESULT_LIMIT_BYTES = 32 * 1024;
/** The most bytes of the calls of one agent. */
const TRANSCRIPT_LIMIT_BYTES = 2 * 1024 * 1024;
/** Bytes of a stored result beside its text. */
const RESULT_OVERHEAD_BYTES = 256;

/** Bytes that this many results may take. */
export function reservedBytes(results: number): number {
  return results * (RESULT_LIMIT_BYTES + RESULT_OVERHEAD_BYTES);
}

/**
 * Refuses an answer for which the transcript has no room, together with the results of its calls.
 * @throws StepError `TranscriptTooLarge`
 */
export function requireRoom(stored: ReadonlyMap<string, string>, answer: string, calls: number): void {
  let bytes = Buffer.byteLength(answer) + reservedBytes(calls);
  for (const value of stored.values()) bytes += Buffer.byteLength(value);
  if (bytes > TRANSCRIPT_LIMIT_BYTES) throw tooLarge(`${TRANSCRIPT_LIMIT_BYTES / 1024 / 1024} MiB`);
}

/** The error of an agent whose calls are larger than the limit. */
export function tooLarge(limit: string): StepError {
  return new StepError(
    'TranscriptTooLarge',
    `with the next tool calls the transcript could exceed ${limit}: let the tools return less, or lower maxSteps`,
  );
}

/** The result as it is stored, whose JSON fits into the limit. */
export function cutResult(text: string): string {
  if (storedBytes(text) <= RESULT_LIMIT_BYTES) return text;
  const note = `\n[cut: the result has ${Buffer.byteLength(text)} bytes]`;
  let length = RESULT_LIMIT_BYTES;
  while (storedBytes(text.slice(0, length) + note) > RESULT_LIMIT_BYTES) length = Math.floor(length * 0.9);
  return text.slice(0, length).toWellFormed() + note;
}

/** A text that is much too long is not measured. */
function storedBytes(text: string): number {
  return text.length > RESULT_LIMIT_BYTES ? Infinity : Buffer.byteLength(JSON.stringify(text)) - 2;
}
