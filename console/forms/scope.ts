/** What every field of a form may need to know: where the object is, what expressions may name, and whether anything may be changed. */
import { createContext, use, type ComponentType } from 'react';
import type { InputProps } from './props.ts';
import type { Sources } from './source.ts';
import type { FieldProblem, Values } from './values.ts';

export type FormScope = {
  namespace: string;
  isReadOnly: boolean;
  sources: Sources;
  /** What the API server has against fields, by their paths. */
  problems: readonly FieldProblem[];
  /** Fields say that they are required before anybody touched them. */
  showsAll: boolean;
  /** Selects or creates a credential. Forms get it from the page, because credentials have forms of their own. */
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

/** The members that stand beside a field: a model is one of those that the credential beside it offers. */
export const SiblingsContext = createContext<Values>({});

export function useSiblings(): Values {
  return use(SiblingsContext);
}
