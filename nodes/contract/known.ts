/**
 * Known items of file triggers: which version of which file was seen, 16 bytes each (hashes of ID and
 * version). Entries keep their order, so a poll that walks a list in that order and finds no change has
 * nothing to write.
 */
import { hash } from 'node:crypto';
import { PollError } from './poller.ts';

const ENTRY = 16;
const HALF = ENTRY / 2;
/** With the changes that wait they have room in what a trigger may remember. */
export const MOST_FILES = 400_000;

export class Known {
  readonly bytes: Buffer;
  readonly count: number;
  #slots: Uint32Array | undefined;

  /** Throws a RangeError for bytes that are no entries. */
  constructor(bytes: Buffer = Buffer.alloc(0)) {
    if (bytes.length % ENTRY !== 0) throw new RangeError('the bytes are no entries');
    this.bytes = bytes;
    this.count = bytes.length / ENTRY;
  }

  /** Where the file stands; -1: it is not known. */
  indexOf(id: string): number {
    const wanted = halfOf(id);
    const slots = (this.#slots ??= this.#indexed());
    for (let slot = wanted.readUInt32LE() & (slots.length - 1); ; slot = (slot + 1) & (slots.length - 1)) {
      const index = (slots[slot] ?? 0) - 1;
      if (index < 0) return -1;
      if (wanted.compare(this.bytes, index * ENTRY, index * ENTRY + HALF) === 0) return index;
    }
  }

  /** Whether the file at that place has that version. */
  hasVersion(index: number, version: string): boolean {
    const start = index * ENTRY + HALF;
    return halfOf(version).compare(this.bytes, start, start + HALF) === 0;
  }

  /** Places by hash, at most half of them taken, so that a search is short. */
  #indexed(): Uint32Array {
    const slots = new Uint32Array(2 ** Math.ceil(Math.log2(2 * this.count + 2)));
    for (let index = 0; index < this.count; index += 1) {
      let slot = this.bytes.readUInt32LE(index * ENTRY) & (slots.length - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = index + 1;
    }
    return slots;
  }
}

export class KnownList {
  #bytes = Buffer.alloc(1_024 * ENTRY);
  #used = 0;

  get count(): number {
    return this.#used / ENTRY;
  }

  /** Throws a PollError `TooLarge`. */
  push(id: string, version: string): void {
    this.#write(Buffer.concat([halfOf(id), halfOf(version)]));
  }

  /** Takes over what stands there from `start` to before `end`. Throws a PollError `TooLarge`. */
  take(known: Known, start: number, end: number = known.count): void {
    this.#write(known.bytes.subarray(start * ENTRY, end * ENTRY));
  }

  /** The same but for what is marked, by its place there. */
  takeUnmarked(known: Known, marks: Uint8Array, start: number, end: number = known.count): void {
    let from = start;
    for (let index = start; index < end; index += 1) {
      if (!marks[index]) continue;
      this.take(known, from, index);
      from = index + 1;
    }
    this.take(known, from, end);
  }

  known(): Known {
    return new Known(this.#bytes.subarray(0, this.#used));
  }

  #write(entries: Buffer): void {
    const used = this.#used + entries.length;
    if (used > MOST_FILES * ENTRY)
      throw new PollError('TooLarge', `there are more than ${MOST_FILES} files: watch a folder with fewer`);
    if (used > this.#bytes.length) {
      const larger = Buffer.alloc(Math.min(MOST_FILES * ENTRY, Math.max(used, this.#bytes.length * 2)));
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    entries.copy(this.#bytes, this.#used);
    this.#used = used;
  }
}

function halfOf(text: string): Buffer {
  return hash('sha256', text, 'buffer').subarray(0, HALF);
}
