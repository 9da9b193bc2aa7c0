/** The page of a workflow: reads it live and opens the editor. */
import { Center, Container, Loader } from '@mantine/core';
import { IconBinaryTree2 } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useObject } from '../kube/hooks.ts';
import { WORKFLOWS, type WorkflowObject } from '../kube/resources.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { FailureNote } from '../ui/FailureNote.tsx';
import { ButtonLink } from '../ui/links.tsx';
import { Editor } from './Editor.tsx';

export function EditorPage() {
  const { project, workflow: name } = useParams({ from: '/p/$project/workflows/$workflow' });
  const { data: workflow, error, refetch } = useObject(WORKFLOWS, project, name);
  const last = useLastExisting(workflow);
  const shown =
    workflow ?? (last?.metadata.name === name && last.metadata.namespace === project ? last : null);
  if (workflow !== undefined && shown !== null)
    return <Editor key={`${project}/${name}`} workflow={shown} isDeleted={workflow === null} />;
  if (workflow === null)
    return (
      <EmptyState
        icon={IconBinaryTree2}
        title={`Workflow ${name} not found`}
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
      <Container py="xl">
        <FailureNote error={error} onRetry={() => void refetch()} />
      </Container>
    );
  return (
    <Center flex={1} aria-busy>
      <Loader size="sm" />
    </Center>
  );
}

/** The last existing version: a deleted workflow does not disappear while it is edited. */
function useLastExisting(workflow: WorkflowObject | null | undefined): WorkflowObject | undefined {
  const [last, setLast] = useState<WorkflowObject>();
  useEffect(() => {
    if (workflow) setLast(workflow);
  }, [workflow]);
  return last;
}
