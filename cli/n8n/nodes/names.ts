/** Names of fields as parameters have them. */
import { textOf } from '../model/json.ts';

export const quoted = (text: unknown): string => JSON.stringify(text) ?? 'undefined';

export const namesOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : textOf(value).split(','))
    .map((name) => textOf(name).trim())
    .filter((name) => name !== '');
