/** The layout of a credential form: first fields, "More fields", and exclusive options. Pure. */
import { editorOf, fieldsOf, type Field } from '../forms/fields.ts';
import type { FieldSchema } from '../forms/schemas.ts';
import type { Choice } from './choices.ts';

export type Layout = {
  /** All fields, including those that the form does not show. */
  all: readonly Field[];
  /** Exactly one of these is used. */
  options: readonly Field[];
  first: readonly Field[];
  more: readonly Field[];
};

export function layoutOf(
  schema: FieldSchema,
  { kind, without, shown, order = [], needed = [] }: Choice,
): Layout {
  const path = `credential.${kind}`;
  const editor = editorOf(schema, path);
  const options = editor.kind === 'oneOf' ? editor.options : [];
  const names = options.map(({ name }) => name);
  const all = fieldsOf(schema, { path });
  const asked = all.filter(({ name }) => !without.includes(name) && !names.includes(name));
  const isFirst = ({ name, isRequired }: Field) => isRequired || shown.includes(name);
  return {
    all,
    options,
    first: asked
      .filter(isFirst)
      .map((field) => (needed.includes(field.name) ? { ...field, isRequired: true } : field))
      .toSorted((one, other) => order.indexOf(one.name) - order.indexOf(other.name)),
    more: asked.filter((field) => !isFirst(field)),
  };
}
