/** Waits for the next request to a webhook and shows it as it comes: what was sent, and the run that it started. */
import { Button, Group, Loader, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useObject, useTable, type LiveTable } from '../../kube/hooks.ts';
import { RUNS } from '../../kube/resources.ts';
import { OutputView } from '../../runs/output/OutputView.tsx';
import { PhaseLabel } from '../../runs/phases.tsx';
import { TextLink } from '../../ui/links.tsx';
import { cameSince } from './nextRun.ts';

type Props = { namespace: string; workflow: string; triggerId: string };

export function WaitingForRequest({ namespace, workflow, triggerId }: Props) {
  const { data: table } = useTable(RUNS, namespace, {
    fieldSelector: `spec.workflow=${workflow}`,
    maxPages: 1,
  });
  if (table === undefined) return <Loader size={14} />;
  return <Waiting namespace={namespace} workflow={workflow} triggerId={triggerId} table={table} />;
}

function Waiting({ namespace, workflow, triggerId, table }: Props & { table: LiveTable }) {
  const [known, setKnown] = useState(() => uidsOf(table));
  const came = cameSince(table.rows, known);
  if (came === undefined)
    return (
      <Group gap="xs" role="status">
        <Loader size={14} type="dots" />
        <Text size="sm">Waiting for a request…</Text>
      </Group>
    );
  const { name } = came.metadata;
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Text size="sm" role="status">
          Request received: run{' '}
          <TextLink
            to="/p/$project/workflows/$workflow"
            params={{ project: namespace, workflow }}
            search={{ run: name }}
            size="sm"
          >
            {name}
          </TextLink>
        </Text>
        <Button size="compact-xs" variant="default" onClick={() => setKnown(uidsOf(table))}>
          Wait for another
        </Button>
      </Group>
      <Came namespace={namespace} run={name} triggerId={triggerId} />
    </Stack>
  );
}

function Came({ namespace, run, triggerId }: { namespace: string; run: string; triggerId: string }) {
  const { data: object } = useObject(RUNS, namespace, run);
  if (!object) return null;
  const { input, inputTruncated, inputRedacted } = object.spec;
  return (
    <Stack gap={4}>
      {object.status?.phase !== undefined && <PhaseLabel phase={object.status.phase} />}
      <OutputView
        output={input}
        nodeId={triggerId}
        isTruncated={inputTruncated === true}
        isRedacted={inputRedacted === true}
      />
    </Stack>
  );
}

function uidsOf({ rows }: LiveTable): ReadonlySet<string> {
  return new Set(rows.map(({ metadata }) => metadata.uid ?? ''));
}
