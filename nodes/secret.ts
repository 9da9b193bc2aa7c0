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

/** The secret with the forms in which others repeat it: base64, and escaped for URLs and JSON. Longer ones first, to mask them whole. */
export function echoesOf(secret: Secret): Secret[] {
  const text = secret.reveal();
  const base64 = Buffer.from(text, 'utf8').toString('base64');
  const url = encodeURIComponent(text);
  const form = new URLSearchParams([['', text]]).toString().slice(1);
  const json = JSON.stringify(text).slice(1, -1);
  const forms = new Set([text, base64, base64.replace(/=+$/, ''), base64url(text), url, form, json]);
  return [...forms].toSorted((a, b) => b.length - a.length).map((each) => new Secret(each));
}

function base64url(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url');
}
