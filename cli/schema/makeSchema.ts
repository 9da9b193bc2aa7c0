/**
 * Makes the schemas of our kinds from zod schemas. The package has them as JSON (`images/kindSchemas.ts`).
 */
import { rootSchema } from '../../api/crd.ts';
import { KINDS } from '../../api/kinds.ts';
import type { Schema } from './types.ts';

/** The names of our kinds. */
export const KIND_NAMES: readonly string[] = KINDS.map(({ kind }) => kind);

/** The schema of a kind from its root; undefined for another kind. */
export function makeSchema(name: string): Schema | undefined {
  const kind = KINDS.find((each) => each.kind === name);
  return kind && rootSchema(kind);
}
