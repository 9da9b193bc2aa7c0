/** What the user may do with the workflow of the editor. */
import { useQuery } from '@tanstack/react-query';
import { useMay } from '../../kube/access.ts';
import { DRAFTS, RUNS, WORKFLOWS } from '../../kube/resources.ts';
import { sessionQuery } from '../../session/session.ts';
import { useEditorPart } from './store.ts';

/** Whether the user may publish, which changes the Workflow. Storing a draft is another right. */
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

/** Whether the user may start test runs of the draft. */
export function useMayTestDraft(): boolean {
  const namespace = useEditorPart((state) => state.namespace);
  const name = useEditorPart((state) => state.name);
  return useMay(
    { verb: 'create', resource: RUNS, namespace },
    { verb: 'test', resource: DRAFTS, namespace, name },
  );
}

/** Whether the editor offers *Help me build*. */
export function useMayBuild(): boolean {
  const { data: session } = useQuery(sessionQuery);
  const isReadOnly = useEditorPart((state) => state.isReadOnly || state.mode === 'read' || state.isDeleted);
  const mayTest = useMayTestDraft();
  return session?.signedIn === true && session.helpMeBuild && mayTest && !isReadOnly;
}
