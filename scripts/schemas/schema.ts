/** Parts of JSON Schemas. */

export type JsonSchema = { [keyword: string]: unknown };

/** The newest draft that editors and kubeconform share. */
export const DRAFT = 'http://json-schema.org/draft-07/schema#';

/** What holds for an object whose members have these schemas, all of which must be there. */
export function when(members: Readonly<Record<string, JsonSchema>>, consequence: JsonSchema): JsonSchema {
  const condition = { type: 'object', properties: members, required: Object.keys(members) };
  const schema: JsonSchema = { if: condition };
  // A keyword of JSON Schema; the object is no promise.
  Reflect.set(schema, 'then', consequence);
  return schema;
}
