/**
 * The actions of a run: retry, cancel, open in the editor, compare versions. Each is shown only to users who
 * may use it.
 */
import { Button, Group, Modal, Skeleton, Text } from '@mantine/core';
import { IconBinaryTree2, IconGitCompare } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { isTerminal } from '../../api/phase.ts';
import type { RunAt } from './live/runAt.ts';
import type { NodeView, RunHead } from './live/nodeView.ts';
import { useMay } from '../kube/access.ts';
import { REVISIONS, type RunObject, type WorkflowObject } from '../kube/resources.ts';
import { FailureNote } from '../ui/FailureNote.tsx';
import { ButtonLink } from '../ui/links.tsx';
import { CancelButton } from './CancelButton.tsx';
import { RetryButton } from './RetryButton.tsx';
import type { NodeNames } from '../workflows/nodeNames.ts';
import { revisionQuery } from './revision.ts';

const RevisionDiff = lazy(async () => ({ default: (await import('./RevisionDiff.tsx')).RevisionDiff }));

type Props = {
  at: RunAt;
  run: RunHead;
  /** Null if the run has no record. */
  record: RunObject | null | undefined;
  nodes: ReadonlyMap<string, NodeView>;
  /** Null if the workflow was deleted. */
  workflow: WorkflowObject | null | undefined;
  names: NodeNames;
};

export function RunActions({ at, run, record, nodes, workflow, names }: Props) {
  const { namespace } = at;
  const mayRead = useMay({ verb: 'get', resource: REVISIONS, namespace });
  const today = workflow?.status?.revision;
  const isOther = run.revision !== undefined && today !== undefined && run.revision !== today;
  return (
    <Group gap="xs" wrap="wrap">
      {!isTerminal(run.phase) && <CancelButton at={at} />}
      {isTerminal(run.phase) && workflow && record && (
        <RetryButton
          at={at}
          run={run}
          record={record}
          nodes={nodes}
          workflow={workflow}
          names={names}
          isOther={isOther}
        />
      )}
      {isOther && mayRead && run.revision !== undefined && (
        <CompareButton namespace={namespace} ran={run.revision} today={today} />
      )}
      {workflow && run.summary !== true && (
        <ButtonLink
          variant="default"
          leftSection={<IconBinaryTree2 size={14} />}
          to="/p/$project/workflows/$workflow"
          params={{ project: namespace, workflow: at.workflow }}
          search={{ run: at.run }}
        >
          Open in editor
        </ButtonLink>
      )}
    </Group>
  );
}

type CompareProps = { namespace: string; ran: string; today: string };

function CompareButton({ namespace, ran, today }: CompareProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" leftSection={<IconGitCompare size={14} />} onClick={() => setOpen(true)}>
        Compare with current
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        size="90%"
        title="This run vs current"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {isOpen && <Comparison namespace={namespace} ran={ran} today={today} />}
      </Modal>
    </>
  );
}

function Comparison({ namespace, ran, today }: CompareProps) {
  const before = useQuery(revisionQuery(namespace, ran));
  const now = useQuery(revisionQuery(namespace, today));
  const error = before.error ?? now.error;
  if (error !== null) return <FailureNote error={error} />;
  if (before.data === undefined || now.data === undefined) return <Skeleton h={300} />;
  if (before.data === null || now.data === null)
    return <Text size="sm">One of the two versions no longer exists.</Text>;
  return (
    <>
      <Group grow gap={0} mb={6}>
        <Text size="xs" c="dimmed" pr="md">
          This run: {ran}
        </Text>
        <Text size="xs" c="dimmed">
          Current: {today}
        </Text>
      </Group>
      <Suspense fallback={<Skeleton h={300} />}>
        <RevisionDiff ran={before.data} today={now.data} />
      </Suspense>
    </>
  );
}
