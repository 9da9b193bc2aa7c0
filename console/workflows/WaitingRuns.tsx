/**
 * The runs that a suspension holds: their number and, on request, a list with links and a button to cancel
 * them.
 */
import { Alert, Button, Group, List, ScrollArea, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMay } from '../kube/access.ts';
import { RUNS } from '../kube/resources.ts';
import { FailureNote } from '../ui/FailureNote.tsx';
import { TextLink } from '../ui/links.tsx';
import { notifySuccess, notifyFailure } from '../ui/notify.tsx';
import { count, waitingText } from '../ui/format.ts';
import { Ago } from '../ui/Ago.tsx';
import { call } from '../http/call.ts';
import { ApiFailure } from '../http/failure.ts';
import { runsPath, waitingQuery, type WorkflowAt } from './unfinishedRuns.ts';

type Props = {
  namespace: string;
  workflow: string;
  /** As the workflow counts them. */
  waiting: number;
};

export function WaitingRuns({ namespace, workflow, waiting }: Props) {
  const [isOpen, setOpen] = useState(false);
  const mayList = useMay({ verb: 'list', resource: RUNS, namespace });
  const listed = useQuery({ ...waitingQuery({ namespace, workflow }), enabled: isOpen });
  const number = listed.data?.isAll === true ? listed.data.items.length : waiting;
  return (
    <Stack gap={6}>
      <Group gap="xs">
        <Text size="sm" role="status">
          {waitingText(number)}
        </Text>
        {mayList && number > 0 && !isOpen && (
          <Button size="compact-xs" variant="default" onClick={() => setOpen(true)}>
            Show
          </Button>
        )}
      </Group>
      {listed.error !== null && <FailureNote error={listed.error} onRetry={() => void listed.refetch()} />}
      {listed.data !== undefined && listed.data.items.length > 0 && (
        <Listed {...{ namespace, workflow }} runs={listed.data} onCancelled={() => listed.refetch()} />
      )}
    </Stack>
  );
}

type ListedProps = Omit<Props, 'waiting'> & {
  runs: { items: { run: string; acceptedTime?: string | undefined }[]; isAll: boolean };
  onCancelled: () => Promise<unknown>;
};

const SHOWN = 100;

function Listed({ namespace, workflow, runs: { items, isAll }, onCancelled }: ListedProps) {
  const mayCancel = useMay({ verb: 'delete', resource: RUNS, namespace });
  return (
    <>
      <ScrollArea.Autosize mah={180}>
        <List size="sm" aria-label="Waiting runs" style={{ overflowWrap: 'anywhere' }}>
          {items.slice(0, SHOWN).map(({ run, acceptedTime }) => (
            <List.Item key={run}>
              <TextLink to="/p/$project/runs/$run" params={{ project: namespace, run }} search={{ workflow }}>
                {run}
              </TextLink>{' '}
              {acceptedTime !== undefined && (
                <Text span size="xs" c="dimmed">
                  received <Ago time={acceptedTime} />
                </Text>
              )}
            </List.Item>
          ))}
        </List>
      </ScrollArea.Autosize>
      {(items.length > SHOWN || !isAll) && (
        <Text size="xs" c="dimmed">
          Not all waiting runs are listed.
        </Text>
      )}
      {mayCancel && <CancelAll {...{ namespace, workflow }} runs={items} onCancelled={onCancelled} />}
    </>
  );
}

type CancelProps = Omit<Props, 'waiting'> & { runs: { run: string }[]; onCancelled: () => Promise<unknown> };

/** Asks for confirmation. */
function CancelAll({ namespace, workflow, runs, onCancelled }: CancelProps) {
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const what = count(runs.length, 'run');
  const cancel = async (): Promise<void> => {
    setBusy(true);
    try {
      await cancelRuns(
        { namespace, workflow },
        runs.map(({ run }) => run),
      );
      notifySuccess(`${what} cancelled`);
    } catch (error) {
      notifyFailure('Could not cancel all runs', error);
    }
    await onCancelled();
    setBusy(false);
    setAsking(false);
  };
  if (!isAsking)
    return (
      <Group>
        <Button size="xs" variant="default" onClick={() => setAsking(true)}>
          Cancel {runs.length === 1 ? 'this run' : `these ${what}`}
        </Button>
      </Group>
    );
  return (
    <Alert color="red" variant="light" title={`Cancel ${what}?`}>
      <Text size="sm" mb="xs">
        Cancelled runs do not start when you resume the workflow. This cannot be undone.
      </Text>
      <Group gap="xs">
        <Button size="xs" color="red.9" loading={isBusy} onClick={() => void cancel()}>
          Cancel {what}
        </Button>
        <Button size="xs" variant="default" onClick={() => setAsking(false)}>
          Keep {runs.length === 1 ? 'it' : 'them'}
        </Button>
      </Group>
    </Alert>
  );
}

/** Cancels the runs at the rate that the gateway allows. Ended runs are ignored. */
async function cancelRuns(at: WorkflowAt, runs: readonly string[]): Promise<void> {
  for (const run of runs) await cancelWithPatience(`${runsPath(at)}/${encodeURIComponent(run)}`);
}

const ATTEMPTS = 10;
const PAUSE_MS = 1_000;

async function cancelWithPatience(path: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await call(path, { method: 'DELETE' });
      return;
    } catch (error) {
      const status = error instanceof ApiFailure ? error.status : 0;
      if (status === 404 || status === 409) return;
      if (status !== 429 || attempt === ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
