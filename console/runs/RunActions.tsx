/**
 * The actions of a run: retry, cancel, open in the editor, compare revisions. Each is shown only to users who
 * may use it.
 */
import { Button, Group, Menu, Modal, Skeleton, Text } from '@mantine/core';
import {
  IconBinaryTree2,
  IconChevronDown,
  IconGitCompare,
  IconPlayerStop,
  IconRepeat,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { CLOSED } from '../../api/access.ts';
import { isTerminal } from '../../api/phase.ts';
import type { RunAt } from './live/follow.ts';
import type { NodeView, RunHead } from './live/nodeView.ts';
import { cancelRun } from './live/calls.ts';
import { useMay } from '../kube/access.ts';
import { REVISIONS, RUNS, WORKFLOWS, type RunObject, type WorkflowObject } from '../kube/resources.ts';
import { sessionQuery } from '../session/session.ts';
import { FailureNote } from '../ui/FailureNote.tsx';
import { ButtonLink } from '../ui/links.tsx';
import { notifySuccess, notifyFailure } from '../ui/notify.tsx';
import { ResumeButton } from './ResumeButton.tsx';
import { retryProblem, retryRun } from './retry.ts';
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
};

export function RunActions({ at, run, record, nodes, workflow }: Props) {
  const { namespace } = at;
  const mayRead = useMay({ verb: 'get', resource: REVISIONS, namespace });
  const today = workflow?.status?.revision;
  const isOther = run.revision !== undefined && today !== undefined && run.revision !== today;
  return (
    <Group gap="xs" wrap="wrap">
      {!isTerminal(run.phase) && <CancelButton at={at} />}
      {isTerminal(run.phase) && workflow && record && (
        <RetryButton at={at} run={run} record={record} workflow={workflow} isOther={isOther} />
      )}
      {isResumable(record, workflow) && <ResumeButton at={at} run={run} nodes={nodes} />}
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

/** A run without a record is not known to the API; a suspended workflow refuses all runs. */
function isResumable(record: Props['record'], workflow: Props['workflow']): boolean {
  return Boolean(record && workflow && workflow.spec.suspend !== true);
}

function CancelButton({ at }: { at: RunAt }) {
  const mayCancel = useMay({ verb: 'delete', resource: RUNS, namespace: at.namespace, name: at.run });
  const [isAsked, setAsked] = useState(false);
  if (!mayCancel) return null;
  const cancel = async (): Promise<void> => {
    setAsked(true);
    try {
      await cancelRun(at);
    } catch (error) {
      setAsked(false);
      notifyFailure('Could not cancel the run', error);
    }
  };
  return (
    <Button
      variant="default"
      leftSection={<IconPlayerStop size={14} />}
      loading={isAsked}
      onClick={() => void cancel()}
    >
      Cancel
    </Button>
  );
}

type AgainProps = { at: RunAt; run: RunHead; record: RunObject; workflow: WorkflowObject; isOther: boolean };

function RetryButton({ at, run, record, workflow, isOther }: AgainProps) {
  const { namespace } = at;
  const navigate = useNavigate();
  const [isBusy, setBusy] = useState(false);
  const { data: session } = useQuery(sessionQuery);
  const requestedBy = session?.signedIn === true ? session.user.name : undefined;
  const mayRun = useMay(
    { verb: 'create', resource: RUNS, namespace },
    { verb: 'create', resource: WORKFLOWS, subresource: 'execute', namespace, name: at.workflow },
  );
  if (!mayRun) return null;
  const problem = retryProblem(record);
  if (problem !== undefined)
    return (
      <Text size="xs" c="dimmed" maw={260}>
        Cannot retry: {problem}
      </Text>
    );
  if (workflow.spec.suspend)
    return (
      <Text size="xs" c="dimmed" maw={260}>
        Cannot retry while the workflow is suspended.
      </Text>
    );
  // Inactive workflows, and those whose public webhook is not confirmed, accept test runs only.
  const test = run.test || !workflow.spec.active || workflow.status?.access === CLOSED;
  const again = async (revision?: string): Promise<void> => {
    setBusy(true);
    try {
      const asked = { namespace, workflow: at.workflow, retryOf: at.run, test, revision };
      const name = await retryRun({ ...asked, requestedBy });
      notifySuccess(`Started ${name}`);
      await navigate({
        to: '/p/$project/runs/$run',
        params: { project: namespace, run: name },
        search: { workflow: at.workflow },
      });
    } catch (error) {
      notifyFailure('Could not retry the run', error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button
          leftSection={<IconRepeat size={14} />}
          rightSection={<IconChevronDown size={14} />}
          loading={isBusy}
        >
          {test ? 'Retry as test run' : 'Retry'}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Same input, real effects</Menu.Label>
        <Menu.Item onClick={() => void again()}>Current revision</Menu.Item>
        {isOther && <Menu.Item onClick={() => void again(run.revision)}>Revision of this run</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
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
    return <Text size="sm">One of the two revisions no longer exists.</Text>;
  return (
    <>
      <Group grow mb={6}>
        <Text size="xs" c="dimmed">
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
