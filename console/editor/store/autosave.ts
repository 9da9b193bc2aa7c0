/** Stores the draft automatically: one second after the last change, at most once in five seconds. */
import { useEffect, useRef } from 'react';
import { useEditorPart, useEditorStore } from './store.ts';

/** From the last change to the write. */
const DELAY_MS = 1_000;
/** Between two writes. */
const INTERVAL_MS = 5_000;
/** From a temporary failure to the retry. */
const RETRY_MS = 10_000;

export function useAutosave(): void {
  const store = useEditorStore();
  const draft = useEditorPart((state) => state.draft);
  const saved = useEditorPart((state) => state.saved);
  const text = useEditorPart((state) => state.text);
  const mayDraft = useEditorPart((state) => state.mayDraft);
  const state = useEditorPart((whole) => whole.draftState);
  const writtenAt = useRef(-Infinity);
  useEffect(() => {
    const waitMs = Math.max(DELAY_MS, writtenAt.current + INTERVAL_MS - Date.now());
    const save = async (): Promise<void> => {
      if ((await store.saveDraft()) === 'written') writtenAt.current = Date.now();
    };
    const timer = setTimeout(() => void save(), waitMs);
    return () => clearTimeout(timer);
  }, [store, draft, saved, text, mayDraft]);
  useEffect(() => {
    if (state.kind !== 'failed' || !state.isPassing) return undefined;
    const timer = setTimeout(() => void store.saveDraft(), RETRY_MS);
    return () => clearTimeout(timer);
  }, [store, state]);
}
