/** What stands in the list of a project without workflows: what one is, and the ways to the first. */
import { Button, Code, Group, Kbd } from '@mantine/core';
import { IconBinaryTree2, IconFileCode, IconPlus, IconTemplate } from '@tabler/icons-react';
import { EmptyState } from '../shell/EmptyState.tsx';
import type { CreateTab } from './CreateDialog.tsx';

type Props = { project: string; mayCreate: boolean; onCreate: (tab: CreateTab) => void };

export function NoWorkflows({ project, mayCreate, onCreate }: Props) {
  if (!mayCreate)
    return (
      <EmptyState icon={IconBinaryTree2} title="No workflows yet">
        You may read this project, but not create workflows in it. Ask whoever manages the cluster to bind the
        ClusterRole windlass-edit to you in the namespace {project}.
      </EmptyState>
    );
  return (
    <EmptyState
      icon={IconBinaryTree2}
      title="Create the first workflow"
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
      A workflow begins with what starts it, such as a webhook, a time or a mail, and goes on with steps: ask
      a model, send a mail, call an API. The template Hello runs at once and needs no account. Press{' '}
      <Kbd size="xs">n</Kbd> to begin, or apply manifests with <Code>kubectl apply -n {project}</Code>: they
      appear here.
    </EmptyState>
  );
}
