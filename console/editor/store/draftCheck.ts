/** Validates the draft with a dry run on the API server, some time after the last change. */
import { useEffect } from 'react';
import { failureFrom } from '../../http/failure.ts';
import { patchObject } from '../../kube/objects.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { isEqual, mergePatch } from '../../kube/patch.ts';
import { draftProblems, forbiddenCredential } from '../model/problems.ts';
import { useEditorPart, useEditorStore } from './store.ts';

/** From the last change to the dry run. */
const DELAY_MS = 800;

/**
 * Updates the problems of the draft. If the API server cannot be reached, the problems of earlier drafts are
 * cleared.
 */
export function useDraftCheck(isAllowed: boolean): void {
  const store = useEditorStore();
  const spec = useEditorPart(({ draft }) => draft.spec);
  const saved = useEditorPart((state) => state.saved);
  useEffect(() => {
    if (!isAllowed || isEqual(saved.spec, spec)) {
      store.setDraftProblems([], spec);
      return undefined;
    }
    const stop = new AbortController();
    const { namespace, name } = store.get();
    const timer = setTimeout(() => {
      const patch = { spec: mergePatch(saved.spec, spec) };
      patchObject(WORKFLOWS, { namespace, name }, patch, { dryRun: true, signal: stop.signal })
        .then(() => store.setDraftProblems([], spec))
        .catch((error: unknown) => {
          if (!stop.signal.aborted) store.setDraftProblems(problemsIn(error, spec), spec);
        });
    }, DELAY_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [store, spec, saved, isAllowed]);
}

function problemsIn(error: unknown, spec: WorkflowSpec) {
  const { status, causes, detail } = failureFrom(error);
  // The page shows other missing rights elsewhere.
  const isReported = status === 422 || status === 400 || forbiddenCredential(detail) !== undefined;
  if (!isReported) return [];
  return draftProblems(causes.length > 0 ? causes : [{ field: '', message: detail }], spec);
}
