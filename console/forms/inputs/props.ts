/** What each input of a form is given. */
import type { Editor, Field } from '../fields.ts';

/** `K`: the editors that the input is for. */
export type InputProps<K extends Editor['kind']> = {
  field: Omit<Field, 'editor'> & { editor: Extract<Editor, { kind: K }> };
  /** Where the field is below its node, such as `skill.parameters.to`. */
  path: string;
  value: unknown;
  /** `undefined` removes the member. */
  onChange: (value: unknown) => void;
  error: string | undefined;
  isReadOnly: boolean;
  /** Beside the label. */
  actions?: React.ReactNode;
};
