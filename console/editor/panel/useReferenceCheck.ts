/**
 * Marks references of the draft that cannot be resolved, and what is missing, a moment after the last change.
 */
import { useEffect } from 'react';
import { useEditorPart, useEditorStore } from '../store/store.ts';

/** Long enough to type a name. */
const AFTER_MS = 800;

export function useReferenceCheck(): void {
  const store = useEditorStore();
  const spec = useEditorPart(({ draft }) => draft.spec);
  useEffect(() => {
    let isCurrent = true;
    const check = async (): Promise<void> => {
      const { checkedDraft } = await import('./checkedDraft.ts');
      if (isCurrent) store.setReferenceProblems(checkedDraft(spec), spec);
    };
    const timer = setTimeout(() => void check(), AFTER_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [store, spec]);
}
