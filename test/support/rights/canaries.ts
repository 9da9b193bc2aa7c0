/**
 * Texts that must not be found, and the search for them: in every form in which programs repeat what they
 * were sent, and also where only one half of one was repeated. Pure.
 */
import { randomBytes } from 'node:crypto';

/** What is planted as a secret: what it stands for, and its text. */
export type Canary = { name: string; text: string; halves: readonly [string, string] };

const HALF = 12;

/**
 * A canary with these characters around it. What is looked for is its middle, which no escaping changes but
 * base64 and hex: so it is found in JSON, URLs, forms and quoted text however awkward the rest is.
 */
export function createCanary(name: string, before = '', after = ''): Canary {
  const middle = `cnry${randomBytes(2 * HALF).toString('hex')}`.slice(0, 2 * HALF);
  return {
    name,
    text: `${before}${middle}${after}`,
    halves: [middle.slice(0, HALF), middle.slice(HALF)],
  };
}

/**
 * A secret that somebody else made, as a canary: its end stands for it. It must be of letters, digits, `-`
 * and `_`.
 */
export function canaryIn(name: string, text: string): Canary {
  if (text.length < 2 * HALF) throw new Error(`${name} is too short to be told from other texts`);
  return { name, text, halves: [text.slice(-2 * HALF, -HALF), text.slice(-HALF)] };
}

/** Where texts were found. */
export type Source = { name: string; text: string };

/** Every canary that is in one of the sources in some form, as `<canary> in <source> as <form>`. */
export function findCanaries(canaries: readonly Canary[], sources: readonly Source[]): string[] {
  const wanted = canaries.flatMap(({ name, halves }) =>
    halves.flatMap((half) => Object.entries(formsOf(half)).map(([form, text]) => ({ name, form, text }))),
  );
  const found = sources.flatMap((source) =>
    wanted
      .filter(({ text }) => source.text.includes(text))
      .map(({ name, form }) => `${name} in ${source.name} as ${form}`),
  );
  return [...new Set(found)];
}

/** A text as others would repeat it: each form is part of what they wrote, wherever in it the text stood. */
function formsOf(text: string): Record<string, string> {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  return {
    plain: text,
    'base64, first alignment': inBase64(bytes, 0),
    'base64, second alignment': inBase64(bytes, 1),
    'base64, third alignment': inBase64(bytes, 2),
    hex,
    'upper-case hex': hex.toUpperCase(),
    'percent escapes': hex.replaceAll(/../g, '%$&'),
    'JSON escapes': hex.replaceAll(/../g, '\\u00$&'),
  };
}

/**
 * What of base64 depends on these bytes alone, where `before` bytes stand before them. Letters and digits
 * give no + and no /.
 */
function inBase64(bytes: Buffer, before: number): string {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
  const first = Math.ceil((before * 8) / 6);
  return encoded.slice(first, Math.floor(((before + bytes.length) * 8) / 6));
}
