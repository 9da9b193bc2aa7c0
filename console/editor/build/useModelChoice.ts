/** The credential and model that the user chose, remembered for the project in this browser. */
import { useState } from 'react';
import { isRecord } from '../../../api/record.ts';
import { useKnownCredentials } from '../gallery/useKnownCredentials.ts';

type Choice = { credential: string; model: string };

export type ModelChoice = Choice & {
  namespace: string;
  /** The credentials of kind openai. */
  credentials: string[];
  /** The models that the credential offers; empty: unknown. */
  models: string[];
  choose: (choice: Partial<Choice>) => void;
};

/** Without a stored choice nothing is chosen: the user decides where the draft is sent. */
export function useModelChoice(namespace: string): ModelChoice {
  const key = `windlass.helpMeBuild.${namespace}`;
  const [choice, setChoice] = useState<Choice>(() => storedChoice(key));
  const known = useKnownCredentials(namespace).filter(({ kind }) => kind === 'openai');
  const credentials = known.map(({ name }) => name);
  const credential = credentials.includes(choice.credential) ? choice.credential : '';
  return {
    namespace,
    credential,
    model: choice.model,
    credentials,
    models: [...(known.find(({ name }) => name === credential)?.models ?? [])],
    choose: (change) => {
      const next = { ...choice, ...change };
      setChoice(next);
      localStorage.setItem(key, JSON.stringify(next));
    },
  };
}

function storedChoice(key: string): Choice {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(key) ?? '');
    const { credential, model } = isRecord(read) ? read : {};
    if (typeof credential === 'string' && typeof model === 'string') return { credential, model };
  } catch {
    // Nothing is stored, or something else is.
  }
  return { credential: '', model: '' };
}
