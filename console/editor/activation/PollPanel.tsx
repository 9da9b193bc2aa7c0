/** The poll state of a trigger: last and next poll, last error, cursor and its reset. */
import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ANNOTATION } from '../../../api/group.ts';
import { useMay } from '../../kube/access.ts';
import { patchObject } from '../../kube/objects.ts';
import { WORKFLOWS, type WorkflowObject } from '../../kube/resources.ts';
import { notifySuccess, notifyFailure } from '../../ui/notify.tsx';
import { ago, fullTime, formatDuration } from '../../ui/format.ts';
import { useNow } from '../../ui/useNow.ts';
import { pollOf, resetNow } from './poll.ts';

/** Shorter times are shown as "now". */
const SOON_MS = 5_000;

type Props = { workflow: WorkflowObject; intervalSeconds: number; isActive: boolean };

export function PollPanel({ workflow, intervalSeconds, isActive }: Props) {
  const { namespace = '', name } = workflow.metadata;
  const { lastAt, nextAt, lastError, cursor } = pollOf(workflow.status?.poll, intervalSeconds);
  const now = useNow(isActive, 1_000);
  const mayReset = useMay({ verb: 'patch', resource: WORKFLOWS, namespace, name });
  return (
    <Stack gap={6}>
      <Fact label="Polls">every {formatDuration(intervalSeconds * 1_000)}</Fact>
      <Fact label="Last poll">
        {lastAt === undefined ? 'not yet' : `${ago(lastAt, now)} (${fullTime(lastAt)})`}
      </Fact>
      {isActive && nextAt !== undefined && (
        <Fact label="Next poll">{nextAt - now >= SOON_MS ? ago(nextAt, now) : 'now'}</Fact>
      )}
      {lastError !== undefined && <Fact label="Last error">{lastError}</Fact>}
      {cursor !== undefined && (
        <Fact label="Cursor">
          <Code fz="xs">{cursor}</Code>
        </Fact>
      )}
      <Text size="xs" c="dimmed">
        Poll times are updated at most once a minute.
      </Text>
      {isActive && mayReset && <ResetCursor workflow={workflow} />}
    </Stack>
  );
}

function ResetCursor({ workflow: { metadata, status } }: { workflow: WorkflowObject }) {
  const { namespace = '', name, annotations = {} } = metadata;
  const [isBusy, setBusy] = useState(false);
  const requested = annotations[ANNOTATION.resetCursor];
  const isWaiting = requested !== undefined && status?.poll?.reset !== requested;
  const reset = async (): Promise<void> => {
    setBusy(true);
    try {
      const patch = { metadata: { annotations: { [ANNOTATION.resetCursor]: resetNow(Date.now()) } } };
      await patchObject(WORKFLOWS, { namespace, name }, patch);
      notifySuccess('The next poll starts from now');
    } catch (error) {
      notifyFailure('Could not reset the cursor', error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Group gap="xs">
      <Button size="compact-xs" variant="default" loading={isBusy} onClick={() => void reset()}>
        Reset cursor
      </Button>
      <Text size="xs" c="dimmed" role="status">
        {isWaiting
          ? 'Requested. The next poll resets the cursor.'
          : 'Polling starts from now. Existing items start no runs.'}
      </Text>
    </Group>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Group gap="xs" wrap="nowrap" align="baseline">
      <Text size="xs" c="dimmed" w={72} style={{ flexShrink: 0 }}>
        {label}
      </Text>
      <Text size="sm" component="div" style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
        {children}
      </Text>
    </Group>
  );
}
