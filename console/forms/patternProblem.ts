/** What to enter instead of a text that does not have the form of its field. Pure. */
import { AMOUNT_PATTERN } from '../../api/money.ts';

/** By the pattern of the schema. A test finds patterns that are missing here. */
const WORDS: Readonly<Record<string, string>> = {
  '^[^\\s/@]+$': 'Enter the host name alone, such as mail.example.com: without https:// and path.',
  '^https?:\\/\\/[^\\s]+$': 'Enter a URL that begins with https:// or http://, without spaces.',
  '^https?:\\/\\/(\\*\\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$':
    'Enter the address of a site without a path, such as https://www.example.com.',
  '^[A-Za-z0-9-]+$': 'Use only letters, digits and -, as in X-Api-Key.',
  '^[A-Za-z0-9_-]+$': 'Use only letters, digits, - and _, as in X-Signature.',
  '^[a-zA-Z0-9_-]{1,64}$': 'Use only letters, digits, - and _, at most 64.',
  '^[A-Za-z0-9][A-Za-z0-9._-]*$': 'Begin with a letter or digit, and use only letters, digits, . _ and -.',
  '^[A-Za-z][A-Za-z0-9_]{0,62}$': 'Begin with a letter, and use only letters, digits and _, at most 63.',
  '^[A-Z][A-Za-z0-9]*$': 'Write one word that begins with a capital letter, such as OutOfStock.',
  '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$':
    'Use only lowercase letters, digits, - and . and begin and end with a letter or digit.',
  '^[-._a-zA-Z0-9]+$': 'Use only letters, digits, - . and _.',
  '^[^:]+$': 'Remove the colon.',
  '^\\S+$': 'Remove the spaces.',
  '^[^\\r\\n]+$': 'Remove the line breaks.',
  '^[\\w!#$&^.+-]+\\/[\\w!#$&^.+-]+(\\s*;.*)?$': 'Enter a type such as text/csv.',
  [AMOUNT_PATTERN.source]: 'Enter an amount with a point, such as 0.50.',
};

/** A part of an example that stands for a value of the user. */
const OPEN = /<[\w -]+>/;

/** Undefined if the text has the form. */
export function patternProblem(pattern: string | undefined, text: string): string | undefined {
  if (pattern === undefined) return undefined;
  const [open] = (/^https?:/.test(text) && OPEN.exec(text)) || [];
  if (open !== undefined) return `Replace ${open} with your own value.`;
  if (new RegExp(pattern, 'u').test(text)) return undefined;
  return WORDS[pattern] ?? UNKNOWN;
}

/** What a text of this form is; undefined if nothing is known of the pattern. */
export function patternText(pattern: string): string | undefined {
  return WORDS[pattern];
}

export const UNKNOWN = 'This value is not allowed here. See the description above.';
