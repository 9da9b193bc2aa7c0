/** The first three steps in a project, ticked by what exists, until the user dismisses them. */
import { Card, CloseButton, Group, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTable } from '../kube/hooks.ts';
import { listTable } from '../kube/objects.ts';
import { CREDENTIALS, RUNS } from '../kube/resources.ts';
import { TextLink } from '../ui/links.tsx';
import type { WorkflowItem } from '../workflows/items.ts';
import { showsSteps, stepsDone, type Step } from './gettingStarted.ts';
import { useStartChoice } from './useStartChoice.ts';

type Props = {
  project: string;
  items: readonly WorkflowItem[];
  /** Shown in place of the steps: once they are dismissed or done, or if what they need cannot be read. */
  otherwise: ReactNode;
};

export function GettingStarted({ project, items, otherwise }: Props) {
  const [choice, setChoice] = useStartChoice(project);
  const credentials = useTable(CREDENTIALS, project);
  const anyRun = useQuery({
    queryKey: ['any run', project, items.length],
    queryFn: async ({ signal }) => (await listTable(RUNS, project, { limit: 1, signal })).rows.length > 0,
  });
  if (credentials.isError || anyRun.isError) return otherwise;
  if (credentials.data === undefined || anyRun.data === undefined) return null;
  const done = stepsDone({ credentials: credentials.data.rows.length, items, hasRun: anyRun.data });
  if (!showsSteps(choice, done)) return otherwise;
  const params = { project };
  const only = items.length === 1 ? items[0] : undefined;
  return (
    <Card withBorder padding="md" component="section" aria-label="Getting started" style={{ flex: 'none' }}>
      <Group justify="space-between" wrap="nowrap" mb="xs">
        <Title order={2} size="h5">
          Getting started
        </Title>
        <CloseButton aria-label="Dismiss getting started" onClick={() => setChoice('dismissed')} />
      </Group>
      <Stack component="ol" gap="sm" p={0} m={0} style={{ listStyle: 'none' }}>
        <OneStep step="credential" done={done} number={1} title="Create a credential or choose a template">
          Credentials let workflows sign in to a model, a mail server or an API.{' '}
          <TextLink
            to="/p/$project/credentials"
            params={params}
            search={{ new: true }}
            size="sm"
            underline="always"
          >
            New credential
          </TextLink>{' '}
          or{' '}
          <TextLink to="/p/$project/templates" params={params} size="sm" underline="always">
            choose a template
          </TextLink>
        </OneStep>
        <OneStep step="run" done={done} number={2} title="Build a workflow and try it">
          Add nodes after the trigger. <i>Test run</i> in the editor shows what each node did.{' '}
          {only === undefined ? (
            <TextLink to="/p/$project/workflows" params={params} size="sm" underline="always">
              Show workflows
            </TextLink>
          ) : (
            <TextLink
              to="/p/$project/workflows/$workflow"
              params={{ project, workflow: only.name }}
              size="sm"
              underline="always"
            >
              Open {only.title}
            </TextLink>
          )}
        </OneStep>
        <OneStep step="workflow" done={done} number={3} title="Publish and activate it">
          <i>Publish</i> in the editor, then switch on <i>Active</i>: events start runs.{' '}
          <TextLink to="/p/$project/runs" params={params} size="sm" underline="always">
            Show runs
          </TextLink>
        </OneStep>
      </Stack>
    </Card>
  );
}

type StepProps = {
  step: Step;
  done: ReadonlySet<Step>;
  number: number;
  title: string;
  children: ReactNode;
};

function OneStep({ step, done, number, title, children }: StepProps) {
  const isDone = done.has(step);
  return (
    <Group
      component="li"
      gap="sm"
      wrap="nowrap"
      align="start"
      aria-label={`${title}: ${isDone ? 'done' : 'to do'}`}
    >
      <ThemeIcon size={24} radius="xl" variant={isDone ? 'filled' : 'default'} color="teal.9" aria-hidden>
        {isDone ? <IconCheck size={14} /> : <Text size="xs">{number}</Text>}
      </ThemeIcon>
      <div style={{ minWidth: 0 }}>
        <Text size="sm" fw={600}>
          {title}
        </Text>
        <Text size="sm" c="dimmed" component="div">
          {children}
        </Text>
      </div>
    </Group>
  );
}
