/** The templates of a project as a page, with the form that creates a workflow from one of them. */
import { Skeleton, Stack, Text, Title } from '@mantine/core';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useMay } from '../kube/access.ts';
import { useTable } from '../kube/hooks.ts';
import { WORKFLOWS } from '../kube/resources.ts';
import { FailureNote } from '../ui/FailureNote.tsx';
import { CreateByTemplate } from './CreateByTemplate.tsx';
import { itemOf } from './items.ts';
import type { Template } from './template.ts';
import { useKnownCredentials } from './useKnownCredentials.ts';

export function TemplatesPage() {
  const { project } = useParams({ from: '/p/$project/templates' });
  return <Templates key={project} project={project} />;
}

function Templates({ project }: { project: string }) {
  const { template } = useSearch({ from: '/p/$project/templates' });
  const navigate = useNavigate();
  const mayCreate = useMay({ verb: 'create', resource: WORKFLOWS, namespace: project });
  const { credentials, isPending } = useKnownCredentials(project);
  const workflows = useTable(WORKFLOWS, project);
  const taken = useMemo(
    () => new Set(workflows.data?.rows.map((row) => itemOf(row).name)),
    [workflows.data?.rows],
  );
  const choose = (chosen: Template | undefined): void =>
    void navigate({
      to: '/p/$project/templates',
      params: { project },
      search: chosen === undefined ? {} : { template: chosen.id },
    });
  return (
    <Stack gap="md" p="md" style={{ flex: 1, minHeight: 0, overflow: 'auto' }}>
      <Title order={1} size="h3">
        Templates
      </Title>
      {template === undefined && (
        <Text size="sm" c="dimmed">
          A template opens in the editor, with credentials of this project. Try it there with a test run.
          Events start runs once you publish and activate it.
        </Text>
      )}
      {workflows.error !== null && workflows.data === undefined ? (
        <FailureNote error={workflows.error} />
      ) : isPending || workflows.data === undefined ? (
        <Skeleton h={320} role="group" aria-busy aria-label="Loading templates" />
      ) : (
        <CreateByTemplate
          project={project}
          taken={taken}
          credentials={credentials}
          mayCreate={mayCreate}
          chosen={template}
          onChoose={choose}
        />
      )}
    </Stack>
  );
}
