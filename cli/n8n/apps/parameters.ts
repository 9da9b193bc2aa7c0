/** Reading of parameters that may be left out. */
import { textOf } from '../model/json.ts';
import { type Value, valueOf } from '../expressions/value.ts';

export const filled = (raw: unknown): Value | undefined =>
  textOf(raw).trim() === '' ? undefined : valueOf(textOf(raw));
