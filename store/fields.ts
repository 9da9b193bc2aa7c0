/** The fields of a hash, from the flat list of names and values that the server answers. */
export function fieldsOf(flat: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let index = 0; index < flat.length; index += 2) fields[flat[index] ?? ''] = flat[index + 1] ?? '';
  return fields;
}
