/** Schemas of CRDs, and where something in an object is wrong. */

export type Rule = { rule: string; message: string; messageExpression?: string; fieldPath?: string };

/** A structural schema, as `crdOf` makes it. */
export type Schema = {
  type?: string;
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: Schema;
  items?: Schema;
  required?: readonly string[];
  enum?: readonly unknown[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  nullable?: boolean;
  default?: unknown;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-validations'?: readonly Rule[];
};

/** The names and indexes that lead to a value from the root of an object. */
export type Path = readonly (string | number)[];

export type Problem = {
  path: Path;
  /** In the words of the API server. */
  message: string;
  /** The name of a field is wrong, not its value. */
  isName?: true;
};

/** A path as the API server writes it: `spec.nodes[0].webhook`. */
export function printPath(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');
}
