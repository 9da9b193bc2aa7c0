/** The page of a workflow: reads it live and opens the editor. */
import { Box, Center, Loader, VisuallyHidden } from '@mantine/core';
import { IconBinaryTree2 } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useQueries } from '@tanstack/react-query';
import { rightQuery } from '../kube/access.ts';
import { useObject } from '../kube/hooks.ts';
import { DRAFTS, WORKFLOWS, type DraftObject, type WorkflowObject } from '../kube/resources.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { FailureNote } from '../ui/FailureNote.tsx';
import { ButtonLink } from '../ui/links.tsx';
import { Editor } from './Editor.tsx';

export function EditorPage() {
  const { project, workflow: name } = useParams({ from: '/p/$project/workflows/$workflow' });
  const { data: workflow, error, refetch } = useObject(WORKFLOWS, project, name);
  // Reading it again after a failure must not close the editor, which has the only copy of later changes.
  const stored = useLastKnown(`${project}/${name}`, useStoredDraft(project, name), workflow !== undefined);
  const last = useLastExisting(workflow);
  const shown =
    workflow ?? (last?.metadata.name === name && last.metadata.namespace === project ? last : null);
  if (workflow !== undefined && shown !== null && stored !== undefined)
    return <Editor key={`${project}/${name}`} workflow={shown} isDeleted={workflow === null} {...stored} />;
  if (workflow === null)
    return (
      <EmptyState
        icon={IconBinaryTree2}
        title={`Workflow "${name}" not found`}
        actions={
          <ButtonLink to="/p/$project/workflows" params={{ project }}>
            Go to workflows
          </ButtonLink>
        }
      >
        It was deleted, or never existed in the project {project}.
      </EmptyState>
    );
  if (error !== null)
    return (
      <Box p="md">
        <FailureNote error={error} onRetry={() => void refetch()} />
      </Box>
    );
  return (
    <Center flex={1} role="group" aria-busy aria-label="Loading workflow">
      <VisuallyHidden component="h1">{name}</VisuallyHidden>
      <Loader size="sm" />
    </Center>
  );
}

type StoredDraft = { draft: DraftObject | null; mayDraft: boolean };

/**
 * The draft of the workflow, for those who may write it; undefined until that is known. If it cannot be read,
 * the editor opens without it, and reads it before it stores another.
 */
function useStoredDraft(namespace: string, name: string): StoredDraft | undefined {
  const rights = useQueries({
    queries: VERBS.map((verb) => rightQuery({ verb, resource: DRAFTS, namespace })),
  });
  const mayDraft = rights.every(({ data }) => data === true);
  const { data, error } = useObject(DRAFTS, namespace, name, { enabled: mayDraft, mayBeMissing: true });
  if (rights.some(({ isPending }) => isPending)) return undefined;
  if (!mayDraft) return { draft: null, mayDraft };
  return data === undefined && error === null ? undefined : { draft: data ?? null, mayDraft };
}

const VERBS = ['list', 'create', 'patch', 'delete'] as const;

/**
 * The value; while it is unknown, the last known one with this key since the editor was opened. Somebody else
 * who signs in on this page does not get it.
 */
function useLastKnown<T>(key: string, value: T | undefined, isOpen: boolean): T | undefined {
  const last = useRef<{ key: string; value: T }>(undefined);
  if (!isOpen) last.current = undefined;
  else if (value !== undefined) last.current = { key, value };
  return value ?? (last.current?.key === key ? last.current.value : undefined);
}

/** The last existing version: a deleted workflow does not disappear while it is edited. */
function useLastExisting(workflow: WorkflowObject | null | undefined): WorkflowObject | undefined {
  const [last, setLast] = useState<WorkflowObject>();
  useEffect(() => {
    if (workflow) setLast(workflow);
  }, [workflow]);
  return last;
}
