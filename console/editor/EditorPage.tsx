/** The page of a workflow: reads it, live, and opens the editor. */
import { Center, Container, Loader } from '@mantine/core';
import { IconBinaryTree2 } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { useObject } from '../kube/hooks.ts';
import { WORKFLOWS } from '../kube/resources.ts';
import { EmptyState } from '../shell/EmptyState.tsx';
import { FailureNote } from '../shell/FailureNote.tsx';
import { ButtonLink } from '../shell/links.tsx';
import { Editor } from './Editor.tsx';

export function EditorPage() {
  const { project, workflow: name } = useParams({ from: '/p/$project/workflows/$workflow' });
  const { data: workflow, error, refetch } = useObject(WORKFLOWS, project, name);
  if (workflow) return <Editor key={`${project}/${workflow.metadata.uid}`} workflow={workflow} />;
  if (workflow === null)
    return (
      <EmptyState
        icon={IconBinaryTree2}
        title={`There is no workflow ${name}`}
        actions={
          <ButtonLink to="/p/$project/workflows" params={{ project }}>
            To the workflows
          </ButtonLink>
        }
      >
        It was deleted, or it has never been in the project {project}.
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
