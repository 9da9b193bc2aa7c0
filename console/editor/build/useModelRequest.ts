/** Runs one request to a model at a time, for the workflow of the editor. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { sessionQuery, userNameOf } from '../../session/session.ts';
import { useEditor } from '../store/store.ts';
import type { BuildModel } from './askModel.ts';
import type { ModelChoice } from './useModelChoice.ts';

type Run<T> = (context: {
  model: BuildModel;
  signal: AbortSignal;
  onStep: (step: string) => void;
}) => Promise<T>;

export type ModelRequest<T> = {
  result: T | undefined;
  /** What is done now; undefined: nothing. */
  step: string | undefined;
  error: unknown;
  start: (run: Run<T>) => Promise<void>;
  stop: () => void;
  /** Forgets the result. */
  drop: () => void;
};

/** The end of the component stops the request. */
export function useModelRequest<T>({ credential, model }: ModelChoice): ModelRequest<T> {
  const { namespace, name, workflow } = useEditor();
  const { data: session } = useQuery(sessionQuery);
  const [result, setResult] = useState<T>();
  const [step, setStep] = useState<string>();
  const [error, setError] = useState<unknown>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const start = async (run: Run<T>): Promise<void> => {
    const control = new AbortController();
    const { signal } = control;
    running.current = control;
    setError(undefined);
    setStep('Sending the request…');
    const { budget } = workflow.spec;
    const requestedBy = userNameOf(session);
    const asked = { namespace, workflow: name, credential, model, budget, requestedBy };
    try {
      const found = await run({ model: asked, signal, onStep: setStep });
      if (!signal.aborted) setResult(() => found);
    } catch (thrown) {
      if (!signal.aborted) setError(thrown);
    } finally {
      if (running.current === control) setStep(undefined);
    }
  };
  const stop = (): void => running.current?.abort();
  return { result, step, error, start, stop, drop: () => setResult(undefined) };
}
