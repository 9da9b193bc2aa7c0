/** Dialogs that confirm suspending and resuming, with the consequences. */
import { Alert, Button, Group, List, Modal, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { WorkflowObject } from '../kube/resources.ts';
import { resumptionOf, suspensionOf } from './consequences.ts';
import { managerText, ownerOfField } from './manager.ts';
import type { WorkflowItem } from './items.ts';
import { useFreshCounts } from './unfinishedRuns.ts';
import { WaitingRuns } from './WaitingRuns.tsx';
import { sessionQuery, userNameOf } from '../session/session.ts';
import { notifySuccess, notifyFailure } from '../ui/notify.tsx';
import { patchUnversioned } from './unversioned.ts';

/** The fields of a workflow that the dialogs use. */
export type Suspendable = Pick<
  WorkflowItem,
  'name' | 'title' | 'metadata' | 'trigger' | 'active' | 'running' | 'waiting'
>;

type Props = {
  item: Suspendable;
  project: string;
  onClose: () => void;
  /** Called with the stored workflow. */
  onStored?: (stored: WorkflowObject) => void;
};

export function SuspendDialog(props: Props) {
  const { project, onClose } = props;
  const item = useFreshCounts(project, props.item);
  const { isBusy, change } = useChange(props, true);
  return (
    <Modal opened onClose={onClose} title={`Suspend "${item.title}"?`}>
      <Stack>
        <Sentences list={suspensionOf(item)} />
        <Text size="sm">You can resume it at any time. The switch Active stays as it is.</Text>
        <Owner item={item} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button color="red.9" loading={isBusy} onClick={() => void change()}>
            Suspend
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

export function ResumeDialog(props: Props) {
  const { project, onClose } = props;
  const item = useFreshCounts(project, props.item);
  const { isBusy, change } = useChange(props, false);
  return (
    <Modal opened onClose={onClose} title={`Resume "${item.title}"?`}>
      <Stack>
        <Sentences list={resumptionOf(item)} />
        <WaitingRuns namespace={project} workflow={item.name} waiting={item.waiting} />
        <Owner item={item} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button loading={isBusy} onClick={() => void change()}>
            Resume
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function useChange({ item: { name, title }, project, onClose, onStored }: Props, suspend: boolean) {
  const { data: session } = useQuery(sessionQuery);
  const [isBusy, setBusy] = useState(false);
  const change = async (): Promise<void> => {
    setBusy(true);
    const by = userNameOf(session);
    const stored = await setSuspended({ namespace: project, name, title, by }, suspend);
    setBusy(false);
    if (stored === undefined) return;
    onStored?.(stored);
    onClose();
  };
  return { isBusy, change };
}

function Sentences({ list }: { list: string[] }) {
  return (
    <List size="sm" style={{ overflowWrap: 'anywhere' }}>
      {list.map((sentence) => (
        <List.Item key={sentence}>{sentence}</List.Item>
      ))}
    </List>
  );
}

function Owner({ item: { metadata } }: { item: Suspendable }) {
  const owner = ownerOfField(metadata, ['spec', 'suspend']);
  if (owner === undefined) return null;
  return (
    <Alert color="yellow" variant="light">
      {managerText(owner)} manages this and will revert it. Change it in the source of {owner.tool}.
    </Alert>
  );
}

/** `by`: the signed-in user. */
type Target = { namespace: string; name: string; title: string; by: string | undefined };

/**
 * Sets `spec.suspend`. Returns the stored workflow; undefined after a failure, which is reported to the user.
 */
export async function setSuspended(
  { namespace, name, title, by }: Target,
  suspend: boolean,
): Promise<WorkflowObject | undefined> {
  try {
    const stored = await patchUnversioned({ namespace, name }, { suspend: suspend ? true : null }, by);
    notifySuccess(`${title} ${suspend ? 'suspended' : 'resumed'}`);
    return stored;
  } catch (error) {
    notifyFailure(`Could not ${suspend ? 'suspend' : 'resume'} ${title}`, error);
    return undefined;
  }
}
