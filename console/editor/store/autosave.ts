/** Stores the draft by itself: one second after the last change, at most every five seconds. */
import { useEffect, useRef } from 'react';
import { useEditorPart, useEditorStore } from './store.ts';

const AFTER_MS = 1_000;
const EVERY_MS = 5_000;
const AGAIN_MS = 10_000;

export function useDraftSaving(): void {
  const store = useEditorStore();
  const draft = useEditorPart((state) => state.draft);
  const saved = useEditorPart((state) => state.saved);
  const text = useEditorPart((state) => state.text);
  const state = useEditorPart((whole) => whole.draftState);
  const writtenAt = useRef(-Infinity);
  useEffect(() => {
    const waitMs = Math.max(AFTER_MS, writtenAt.current + EVERY_MS - Date.now());
    const save = async (): Promise<void> => {
      if ((await store.saveDraft()) === 'written') writtenAt.current = Date.now();
    };
    const timer = setTimeout(() => void save(), waitMs);
    return () => clearTimeout(timer);
  }, [store, draft, saved, text]);
  useEffect(() => {
    if (state.kind !== 'failed' || !state.isPassing) return undefined;
    const timer = setTimeout(() => void store.saveDraft(), AGAIN_MS);
    return () => clearTimeout(timer);
  }, [store, state]);
}
