/** Cancels an unfinished run, after a confirmation. Hidden from users who may not cancel it. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconPlayerStopFilled } from '@tabler/icons-react';
import { useState } from 'react';
import { useMay } from '../kube/access.ts';
import { RUNS } from '../kube/resources.ts';
import { notifyFailure } from '../ui/notify.tsx';
import { cancelRun } from './live/runRequests.ts';
import type { RunAt } from './live/runAt.ts';

type Props = {
  at: RunAt;
  /** Called with whether the cancellation is requested. */
  onChange?: (isRequested: boolean) => void;
};

export function CancelButton({ at, onChange }: Props) {
  const mayCancel = useMay({ verb: 'delete', resource: RUNS, namespace: at.namespace, name: at.run });
  const [isAsking, setAsking] = useState(false);
  const [isRequested, setRequested] = useState(false);
  if (!mayCancel) return null;
  const note = (next: boolean): void => {
    setRequested(next);
    onChange?.(next);
  };
  const cancel = async (): Promise<void> => {
    setAsking(false);
    note(true);
    try {
      await cancelRun(at);
    } catch (error) {
      note(false);
      notifyFailure('Could not cancel the run', error);
    }
  };
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconPlayerStopFilled size={14} />}
        loading={isRequested}
        onClick={() => setAsking(true)}
      >
        Cancel run
      </Button>
      <Modal opened={isAsking} onClose={() => setAsking(false)} title="Cancel this run?">
        <Stack gap="sm">
          <Text size="sm">
            Nodes that have not started do not run, and waits end. What the run has already done remains. This
            cannot be undone.
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setAsking(false)}>
              Keep it running
            </Button>
            <Button color="red" onClick={() => void cancel()}>
              Cancel the run
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
