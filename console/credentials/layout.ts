/** Which fields of a credential are asked for first, which stand under "More options", and which is one of several. Pure. */
import { editorOf, fieldsOf, type Field } from '../forms/fields.ts';
import type { FieldSchema } from '../forms/schemas.ts';
import type { Choice } from './choices.ts';

export type Layout = {
  /** All fields, for building: those that are not asked for among them. */
  all: readonly Field[];
  /** Of these exactly one is taken. */
  options: readonly Field[];
  first: readonly Field[];
  more: readonly Field[];
};

/** The layout of the fields of a choice. */
export function layoutOf(schema: FieldSchema, { kind, without, shown }: Choice): Layout {
  const editor = editorOf(schema, kind);
  const options = editor.kind === 'oneOf' ? editor.options : [];
  const names = options.map(({ name }) => name);
  const all = fieldsOf(schema, { path: kind });
  const asked = all.filter(({ name }) => !without.includes(name) && !names.includes(name));
  const isFirst = ({ name, isRequired }: Field) => isRequired || shown.includes(name);
  return {
    all,
    options,
    first: asked.filter(isFirst),
    more: asked.filter((field) => !isFirst(field)),
  };
}
