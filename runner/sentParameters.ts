/** Parameters in at most so many bytes, with secrets masked: the beginning of long texts and lists. */
import { ExactNumber } from '../api/exact/exactNumber.ts';
import { type Mask, masked, maskedValue } from '../nodes/contract/secret.ts';
import type { SentParameters } from '../runs/types/node.ts';

/** Bytes of the parameters of a node, as JSON. */
const SENT_BYTES = 8 * 1024;
/** Bytes of one text of parameters that must be cut: it leaves room for the others. */
const LONGEST_TEXT = 2_048;
/** More is masked than is kept: a secret that is cut in two at the end is not recognized. */
const MASKED_BEYOND = 16_384;
const CUT = '… [cut]';

/** The parameters in at most so many bytes of JSON, with secrets masked. */
export function sentParameters(
  parameters: Record<string, unknown>,
  masks: readonly Mask[],
  limitBytes = SENT_BYTES,
): SentParameters {
  const whole = new Cutting(limitBytes, masks);
  const copy = whole.copy(parameters);
  if (!whole.hasCut) return { parameters: withoutSecrets(copy, masks) };
  const cut = new Cutting(limitBytes, masks, LONGEST_TEXT).copy(parameters);
  return { parameters: withoutSecrets(cut, masks), truncated: true };
}

/** Most values have none: a test of the whole text shows that. */
function withoutSecrets(value: unknown, masks: readonly Mask[]): unknown {
  if (masks.length === 0) return value;
  const text = JSON.stringify(value);
  return masked(text, masks) === text ? value : maskedValue(value, masks);
}

/** Copies a value as far as there is room for it. */
class Cutting {
  #room: number;
  readonly #masks: readonly Mask[];
  readonly #longest: number;
  hasCut = false;

  constructor(bytes: number, masks: readonly Mask[], longestText = bytes) {
    this.#room = bytes;
    this.#masks = masks;
    this.#longest = longestText;
  }

  copy(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (Array.isArray(value)) return this.#list(value);
    if (typeof value === 'object' && value !== null && !(value instanceof ExactNumber))
      return this.#object(value);
    this.#room -= jsonBytes(value);
    return value;
  }

  #text(text: string): string {
    const bytes = text.length > this.#room ? Infinity : jsonBytes(text);
    if (bytes <= Math.min(this.#room, this.#longest)) {
      this.#room -= bytes;
      return text;
    }
    return this.#cutText(text);
  }

  #cutText(text: string): string {
    this.hasCut = true;
    const safe = masked(text.slice(0, this.#longest + MASKED_BEYOND), this.#masks);
    let length = Math.max(0, Math.min(this.#longest, this.#room));
    const cut = () => safe.slice(0, length).toWellFormed() + CUT;
    while (length > 0 && jsonBytes(cut()) > this.#room) length = Math.floor(length * 0.8);
    this.#room -= jsonBytes(cut());
    return cut();
  }

  #list(list: readonly unknown[]): unknown[] {
    this.#room -= 2;
    const copy: unknown[] = [];
    for (const item of list) {
      if (this.#isFull()) break;
      this.#room -= 1;
      copy.push(this.copy(item));
    }
    return copy;
  }

  #object(object: object): Record<string, unknown> {
    this.#room -= 2;
    const copy: [string, unknown][] = [];
    for (const [key, value] of Object.entries(object)) {
      if (value === undefined) continue;
      if (this.#isFull(key.length)) break;
      this.#room -= jsonBytes(key) + 2;
      copy.push([key, this.copy(value)]);
    }
    return Object.fromEntries(copy);
  }

  #isFull(keyLength = 0): boolean {
    const isFull = this.#room < keyLength + 16;
    if (isFull) this.hasCut = true;
    return isFull;
  }
}

/** Bytes of the value as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? 'null');
}
