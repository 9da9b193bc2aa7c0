/**
 * Secrets that cannot be printed: logging, joining or serializing one gives a placeholder. Only `reveal`
 * returns the text.
 */
import { inspect } from 'node:util';
import { ExactNumber } from '../../api/exact/exactNumber.ts';

const MASK = '[secret]';
/** Shorter texts are not looked for in messages: they would blank out ordinary words. */
const LEAST_REDACTED = 4;
/** With fewer letters and digits it is searched for as it is alone. */
const LEAST_ESCAPED = 8;
/** What one character can become: `%25F0%259F…`, `&quot;`, `\\\\u00e4`. */
const LONGEST_ESCAPE = 12;

/** What masks a secret, or something that others make of it. */
export type Mask = Pick<Secret, 'redact'>;

const LONGEST_QUOTE = 500;
/** More is masked than is kept: a secret that is cut in two at the end is not recognized. */
const MASKED_LENGTH = 16_384;

/** The text with every secret masked. */
export function masked(text: string, secrets: readonly Mask[]): string {
  return secrets.reduce((rest, secret) => secret.redact(rest), text);
}

/** The JSON value with every secret masked in its texts, keys and numbers. */
export function maskedValue(value: unknown, secrets: readonly Mask[]): unknown {
  if (secrets.length === 0) return value;
  if (typeof value === 'string') return masked(value, secrets);
  if (typeof value === 'number' || value instanceof ExactNumber) {
    const text = String(value);
    return masked(text, secrets) === text ? value : masked(text, secrets);
  }
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [masked(key, secrets), maskedValue(item, secrets)]),
  );
}

/** A provider's message that is safe to show: one line, bounded, without the secrets. */
export function quoted(message: string, secrets: readonly Mask[]): string {
  const line = masked(message.slice(0, MASKED_LENGTH), secrets).replaceAll(/\s+/g, ' ').trim();
  return line.length <= LONGEST_QUOTE ? line : `${line.slice(0, LONGEST_QUOTE)}…`;
}

/**
 * The value of a Secret key. The text is in a private field, so that no copy, spread or JSON of it has the
 * text.
 */
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

/**
 * Masks of the secret in the forms in which others repeat it: as it is, in base64, also of more than the
 * secret, in hex, and with its special characters escaped in whatever way. Longer ones first, to mask them
 * whole.
 */
export function echoesOf(secret: Secret): Mask[] {
  const text = secret.reveal();
  const base64 = Buffer.from(text, 'utf8').toString('base64');
  const url = encodeURIComponent(text);
  const form = new URLSearchParams([['', text]]).toString().slice(1);
  const json = JSON.stringify(text).slice(1, -1);
  // Who writes URLs does not agree on what is to be escaped (RFC 3986, RFC 2396, WHATWG).
  const urls = [url, url.replaceAll("'", '%27'), url.replaceAll(/[!'()*]/g, inPercent)];
  const written = [text, ...urls, form, json];
  const within = written.flatMap((each) => [0, 1, 2].map((before) => withinBase64(each, before)));
  const hex = written.map((each) => Buffer.from(each, 'utf8').toString('hex'));
  const encoded = [base64, base64.replace(/=+$/, ''), base64url(text), ...within, ...within.map(forURLs)];
  const forms = new Set([...written, ...encoded, ...hex, ...hex.map((each) => each.toUpperCase())]);
  const literal = [...forms].toSorted((a, b) => b.length - a.length).map((each) => new Secret(each));
  return [...literal, ...escapesOf(text)];
}

/**
 * Masks the text with anything short in place of what is no letter and no digit: no escaping changes these.
 */
function escapesOf(text: string): Mask[] {
  const inner = text.replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  const parts = inner.split(/[^A-Za-z0-9]+/);
  if (parts.join('').length < LEAST_ESCAPED) return [];
  const gaps = inner.split(/[A-Za-z0-9]+/).slice(1, -1);
  const mostBetween = gaps.map(({ length }) => length * LONGEST_ESCAPE);
  return [{ redact: (message) => withoutSpans(message, spansOf(message, parts, mostBetween)) }];
}

type Span = { start: number; end: number };

/**
 * Where the parts stand one behind the other, with at least one character in between and at most as many as
 * is said. Not by a pattern: who knows the secret can send a text in which that tries all of the ways, which
 * has no end.
 */
function spansOf(text: string, [first = '', ...others]: string[], mostBetween: number[]): Span[] {
  return others.reduce(
    (spans, part, index) =>
      spans.length === 0 ? spans : continued(spans, placesOf(part, text), mostBetween[index] ?? 0),
    placesOf(first, text),
  );
}

/**
 * The spans with a place behind each. Of several that are near enough the first is taken: it has all that may
 * be of the secret.
 */
function continued(spans: Span[], places: Span[], mostBetween: number): Span[] {
  const longer: Span[] = [];
  let at = 0;
  for (const { start, end } of places) {
    let before = spans[at];
    while (before && before.end < start - mostBetween) before = spans[(at += 1)];
    if (before && before.end < start) longer.push({ start: before.start, end });
  }
  return longer;
}

function placesOf(part: string, text: string): Span[] {
  const places: Span[] = [];
  for (let start = text.indexOf(part); start >= 0; start = text.indexOf(part, start + 1))
    places.push({ start, end: start + part.length });
  return places;
}

/**
 * The text with a mask in place of each span; one for those that overlap. They begin, and end, one after the
 * other.
 */
function withoutSpans(text: string, spans: Span[]): string {
  let rest = 0;
  let result = '';
  for (const { start, end } of spans) {
    if (start >= rest) result += text.slice(rest, start) + MASK;
    rest = end;
  }
  return result + text.slice(rest);
}

/**
 * What of base64 depends on the text alone, where so many bytes stand before it: a login is the base64 of
 * user and password.
 */
function withinBase64(text: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text, 'utf8')]);
  return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

const forURLs = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_');

const inPercent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

function base64url(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url');
}
