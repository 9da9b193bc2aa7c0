/** Groups of equal failures, each with an example, its runs and a retry of all of them. */
import { Badge, Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { IconRepeat } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useMay } from '../kube/access.ts';
import { useObject } from '../kube/hooks.ts';
import { RUNS, WORKFLOWS } from '../kube/resources.ts';
import { CredentialLinks } from '../runs/CredentialLinks.tsx';
import { failedCredentials, isAboutCredential } from '../runs/failedCredential.ts';
import { presentNamesQuery } from '../runs/presentNames.ts';
import { named } from '../workflows/nodeNames.ts';
import { Ago } from '../ui/Ago.tsx';
import { count } from '../ui/format.ts';
import { TextLink } from '../ui/links.tsx';
import { reasonLabel } from '../workflows/items.ts';
import { searchedText, type FailureGroup } from './failureGroups.ts';
import { detailOf, type Period } from './statistics.ts';

const RetryGroup = lazy(async () => ({ default: (await import('./RetryGroup.tsx')).RetryGroup }));

/** Further failures are on the page Runs. */
const SHOWN = 12;

type Props = {
  groups: readonly FailureGroup[];
  project: string;
  titles: ReadonlyMap<string, string>;
  period: Period['id'];
};

export function FailureGroups({ groups, project, titles, period }: Props) {
  const [retried, setRetried] = useState<FailureGroup>();
  return (
    <Card withBorder padding="md" component="section" aria-label="Failures">
      <Title order={2} size="h5" mb="xs">
        Failures
      </Title>
      {groups.length === 0 ? (
        <Text size="sm" c="dimmed">
          No failed runs.
        </Text>
      ) : (
        <Stack component="ul" gap="md" p={0} m={0} style={{ listStyle: 'none' }}>
          {groups.slice(0, SHOWN).map((group) => (
            <li key={group.key}>
              <OneGroup
                group={group}
                project={project}
                title={titles.get(group.workflow) ?? group.workflow}
                period={period}
                onRetry={() => setRetried(group)}
              />
            </li>
          ))}
        </Stack>
      )}
      {groups.length > SHOWN && (
        <TextLink to="/p/$project/runs" params={{ project }} search={{ phase: 'Failed' }} size="sm" mt="xs">
          All failed runs
        </TextLink>
      )}
      {retried !== undefined && (
        <Suspense>
          <RetryGroup
            group={retried}
            project={project}
            title={titles.get(retried.workflow) ?? retried.workflow}
            onClose={() => setRetried(undefined)}
          />
        </Suspense>
      )}
    </Card>
  );
}

type OneGroupProps = {
  group: FailureGroup;
  project: string;
  title: string;
  period: Period['id'];
  onRetry: () => void;
};

function OneGroup({ group, project, title, period, onRetry }: OneGroupProps) {
  const { workflow, cause, last, runs } = group;
  const within = period === '24h' ? 'day' : 'week';
  const message = detailOf(last);
  const { data: names } = useQuery({
    ...presentNamesQuery(project, workflow),
    enabled: cause.node !== undefined,
  });
  return (
    <>
      <Group justify="space-between" wrap="nowrap" align="start" gap="sm">
        <div style={{ minWidth: 0 }}>
          <TextLink to="/p/$project/workflows/$workflow" params={{ project, workflow }} size="sm" fw={600}>
            {title}
          </TextLink>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {reasonLabel(cause.reason)}
            {cause.node !== undefined &&
              ` in ${names?.has(cause.node) === true ? named(names, cause.node) : `node ${cause.node}`}`}
          </Text>
        </div>
        <Badge
          color="red"
          variant="light"
          tt="none"
          style={{ color: 'var(--mantine-color-text)', flex: 'none' }}
        >
          {count(runs.length, 'run')}
        </Badge>
      </Group>
      {message !== undefined && (
        <Text size="xs" c="dimmed" lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
          {message}
        </Text>
      )}
      {isAboutCredential(cause.reason) && <GroupCredentials group={group} project={project} />}
      <Group gap="4px 12px" mt={4}>
        <TextLink
          to="/p/$project/runs/$run"
          params={{ project, run: last.run }}
          search={{ workflow }}
          size="xs"
        >
          Last failure <Ago time={new Date(last.acceptedAt).toISOString()} />
        </TextLink>
        <TextLink
          to="/p/$project/runs"
          params={{ project }}
          search={{ workflow, phase: 'Failed', within, test: 'none', text: searchedText(group) }}
          size="xs"
        >
          Show runs
        </TextLink>
        <RetryAll project={project} workflow={workflow} onClick={onRetry} />
      </Group>
    </>
  );
}

/** The credentials of the failed node, as the workflow is today. */
function GroupCredentials({
  group: { workflow, cause, last },
  project,
}: Pick<OneGroupProps, 'group' | 'project'>) {
  const { data } = useObject(WORKFLOWS, project, workflow, { mayBeMissing: true });
  const node = data?.spec.nodes.find(({ id }) => id === cause.node);
  const names = failedCredentials(node, { reason: cause.reason, message: last.message });
  return <CredentialLinks project={project} names={names} back={{ overview: true }} size="xs" />;
}

type RetryAllProps = { project: string; workflow: string; onClick: () => void };

/** Only for users who may start runs of the workflow. */
function RetryAll({ project: namespace, workflow, onClick }: RetryAllProps) {
  const mayRun = useMay(
    { verb: 'create', resource: RUNS, namespace },
    { verb: 'create', resource: WORKFLOWS, subresource: 'execute', namespace, name: workflow },
  );
  if (!mayRun) return null;
  return (
    <Button
      variant="subtle"
      size="compact-xs"
      px={0}
      leftSection={<IconRepeat size={12} />}
      aria-haspopup="dialog"
      onClick={onClick}
    >
      Retry all
    </Button>
  );
}
