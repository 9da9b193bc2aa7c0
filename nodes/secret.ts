/** Secrets that cannot be printed: whatever logs, joins or serializes one gets a placeholder. Only `reveal` gives the text. */
import { inspect } from 'node:util';

const MASK = '[secret]';
/** Shorter texts are not looked for in messages: they would blank out ordinary words. */
const LEAST_REDACTED = 4;

/** The value of a Secret key. The text is in a private field, so that no copy, spread or JSON of it has the text. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself, for the one call that needs it. */
  reveal(): string {
    return this.#text;
  }

  /** The message with every occurrence of the secret masked: servers like to repeat what they were sent. */
  redact(message: string): string {
    return this.#text.length < LEAST_REDACTED ? message : message.replaceAll(this.#text, MASK);
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
