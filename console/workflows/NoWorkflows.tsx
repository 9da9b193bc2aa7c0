/** What stands in the list of a project without workflows: what one is, and the ways to the first. */
import { Button, Code, Group, Kbd } from '@mantine/core';
import { IconBinaryTree2, IconFileCode, IconPlus, IconTemplate } from '@tabler/icons-react';
import { EmptyState } from '../ui/EmptyState.tsx';
import type { CreateTab } from './CreateDialog.tsx';

type Props = { project: string; mayCreate: boolean; onCreate: (tab: CreateTab) => void };

export function NoWorkflows({ project, mayCreate, onCreate }: Props) {
  if (!mayCreate)
    return (
      <EmptyState icon={IconBinaryTree2} title="No workflows yet">
        You are not allowed to create workflows in this project. Ask an administrator to bind the ClusterRole
        windlass-edit to you in the namespace {project}.
      </EmptyState>
    );
  return (
    <EmptyState
      icon={IconBinaryTree2}
      title="Create your first workflow"
      actions={
        <Group justify="center" gap="xs" mt="xs">
          <Button leftSection={<IconPlus size={16} />} onClick={() => onCreate('name')}>
            New workflow
          </Button>
          <Button
            variant="default"
            leftSection={<IconTemplate size={16} />}
            onClick={() => onCreate('template')}
          >
            From a template
          </Button>
          <Button variant="default" leftSection={<IconFileCode size={16} />} onClick={() => onCreate('yaml')}>
            Paste YAML
          </Button>
        </Group>
      }
    >
      A workflow starts with a trigger, for example a webhook, a schedule or a mail, and continues with steps:
      call a model, send a mail, call an API. The template Hello needs no credentials and runs immediately.
      Press <Kbd size="xs">n</Kbd> to create one, or apply manifests with{' '}
      <Code>kubectl apply -n {project}</Code>.
    </EmptyState>
  );
}
