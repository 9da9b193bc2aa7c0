/** The props of the inputs and forms that render fields. */
import type { Editor, Field } from './fields.ts';
import type { Values } from './values.ts';

/** `K`: the editors that the input supports. */
export type InputProps<K extends Editor['kind']> = {
  field: Omit<Field, 'editor'> & { editor: Extract<Editor, { kind: K }> };
  /** The path of the field within its node, such as `skill.parameters.to`. */
  path: string;
  value: unknown;
  /** `undefined` removes the member. */
  onChange: (value: unknown) => void;
  error: string | undefined;
  isReadOnly: boolean;
  actions?: React.ReactNode;
};

export type FieldInputProps = {
  field: Field;
  path: string;
  value: unknown;
  onChange: (value: unknown) => void;
  /** Without a label of its own. */
  isBare?: boolean;
  actions?: React.ReactNode;
};

export type SchemaFormProps = {
  fields: Field[];
  /** The path of the object within its node, such as `skill.parameters`. */
  path: string;
  values: Values;
  onChange: (values: Values) => void;
  /** All fields are shown at once. */
  isFlat?: boolean;
};
