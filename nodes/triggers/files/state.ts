/** The stored state of a file trigger, as bytes: known items and pending changes. */
import * as z from 'zod';
import { Known } from '../../contract/known.ts';
import { change, type Change } from '../../contract/source.ts';

export type State = { known: Known; waiting: Change[] };

const MOST_WAITING = 2_000;
const MOST_WAITING_BYTES = 524_288;
const FORM = 1;
const LENGTHS = 8;

const waitingSchema = z.array(change);

/** Whether the changes are as many as are kept at a time. */
export function isMuch(changes: readonly Change[]): boolean {
  if (changes.length >= MOST_WAITING) return true;
  // A name has at most a few thousand characters: until then there is no need to measure.
  return changes.length >= 50 && Buffer.byteLength(JSON.stringify(changes)) >= MOST_WAITING_BYTES;
}

export function encodeState({ known, waiting }: State): Buffer {
  const text = Buffer.from(JSON.stringify(waiting));
  const lengths = Buffer.alloc(LENGTHS);
  lengths.writeUInt32LE(FORM);
  lengths.writeUInt32LE(text.length, 4);
  return Buffer.concat([lengths, text, known.bytes]);
}

/** Undefined for what this version cannot read. */
export function decodeState(bytes: Buffer | undefined): State | undefined {
  if (!bytes || bytes.length < LENGTHS || bytes.readUInt32LE() !== FORM) return undefined;
  const end = LENGTHS + bytes.readUInt32LE(4);
  try {
    const waiting = waitingSchema.parse(JSON.parse(bytes.toString('utf8', LENGTHS, end)));
    return { waiting, known: new Known(bytes.subarray(end)) };
  } catch {
    return undefined;
  }
}
