/** What the user may do with the workflow of the editor. */
import { useQuery } from '@tanstack/react-query';
import { useMay } from '../../kube/access.ts';
import { DRAFTS, RUNS, WORKFLOWS } from '../../kube/resources.ts';
import { sessionQuery } from '../../session/session.ts';
import { useEditorPart } from './store.ts';

/** Whether the user may publish: change the workflow itself. Others may have a draft. */
export function useMayPublish(): boolean {
  const namespace = useEditorPart((state) => state.namespace);
  const name = useEditorPart((state) => state.name);
  return useMay({ verb: 'patch', resource: WORKFLOWS, namespace, name });
}

/** Whether the user may create runs as objects. */
export function useMayCreateRuns(): boolean {
  const namespace = useEditorPart((state) => state.namespace);
  return useMay({ verb: 'create', resource: RUNS, namespace });
}

/** Whether the user may have the draft executed in a test run. */
export function useMayTestDraft(): boolean {
  const namespace = useEditorPart((state) => state.namespace);
  const name = useEditorPart((state) => state.name);
  return useMay(
    { verb: 'create', resource: RUNS, namespace },
    { verb: 'test', resource: DRAFTS, namespace, name },
  );
}

/** Whether a model may be asked for drafts of the workflow of the editor. */
export function useMayBuild(): boolean {
  const { data: session } = useQuery(sessionQuery);
  const isReadOnly = useEditorPart((state) => state.isReadOnly || state.mode === 'read' || state.isDeleted);
  const mayTest = useMayTestDraft();
  return session?.signedIn === true && session.helpMeBuild && mayTest && !isReadOnly;
}
