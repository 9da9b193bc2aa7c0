/** The schemas of our kinds, each made when it is first needed. */
import { makeSchema } from './makeSchema.ts';
import type { Schema } from './types.ts';

const known = new Map<string, Schema>();

/** The schema of a kind from its root; undefined for another kind. */
export function schemaOf(name: string): Schema | undefined {
  const schema = known.get(name) ?? makeSchema(name);
  if (schema) known.set(name, schema);
  return schema;
}
