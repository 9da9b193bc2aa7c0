/** The context of a form: the project, what expressions may refer to, and whether it is read-only. */
import { createContext, use, type ComponentType } from 'react';
import type { InputProps } from './props.ts';
import type { Shapes, ShapesAt } from './shapes.ts';
import type { Sources } from './source.ts';
import type { FieldProblem, Values } from './values.ts';

/** A text that its field cannot apply to the draft, and why. */
export type UnappliedText = { text: string; message: string };

export type FormScope = {
  namespace: string;
  /** The name of the edited workflow. */
  workflow?: string;
  isReadOnly: boolean;
  sources: Sources;
  /** Problems that the API server reported, by field path. */
  problems: readonly FieldProblem[];
  /** Why the node failed in the shown run. */
  failure?: string | undefined;
  /** Missing required fields are reported before the user visited them. */
  showsAll: boolean;
  /** Unapplied texts outlive their inputs. Undefined: they are part of the input alone. */
  unapplied?: {
    textAt: (path: string) => string | undefined;
    /** Undefined: the field needs no such text. */
    keep: (path: string, text: UnappliedText | undefined) => void;
  };
  /** Keeps the shapes of values when their inputs close. Undefined: each input keeps its own. */
  shapes?: {
    of: (at: ShapesAt) => Shapes;
    keep: (at: ShapesAt, shapes: Shapes) => void;
  };
  /** Selects or creates a credential. The page provides it, because credentials have forms of their own. */
  CredentialInput: ComponentType<InputProps<'credential'>>;
};

const NOTHING: FormScope = {
  namespace: '',
  isReadOnly: true,
  sources: { nodes: [] },
  problems: [],
  showsAll: false,
  CredentialInput: () => null,
};

export const FormContext = createContext<FormScope>(NOTHING);

export function useFormScope(): FormScope {
  return use(FormContext);
}

/** The values of the sibling fields: a model field offers the models of the credential beside it. */
export const SiblingsContext = createContext<Values>({});

export function useSiblings(): Values {
  return use(SiblingsContext);
}
