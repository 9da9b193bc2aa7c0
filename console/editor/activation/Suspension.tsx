/** Suspends and resumes the workflow, and shows how many runs wait. */
import { Button, Group, Stack } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMay } from '../../kube/access.ts';
import { WORKFLOWS, type WorkflowObject } from '../../kube/resources.ts';
import { sessionQuery, userNameOf } from '../../session/session.ts';
import { setSuspended, type Suspendable } from '../../workflows/SuspendDialogs.tsx';
import { WaitingRuns } from '../../workflows/WaitingRuns.tsx';
import { isTrigger, nodeKind } from '../../workflows/kinds.ts';
import { useEditorPart, useEditorStore } from '../store/store.ts';
import { isTriggerKind } from './activation.ts';

/** The workflow in the form that the dialogs of the list need. */
export function suspendable({ metadata, spec, status }: WorkflowObject): Suspendable {
  const trigger = spec.nodes.filter(isTrigger).map(nodeKind)[0];
  const { running = 0, waiting = 0 } = status?.runs ?? {};
  return {
    name: metadata.name,
    title: spec.displayName ?? metadata.name,
    metadata,
    active: spec.active,
    running,
    waiting,
    ...(trigger !== undefined && isTriggerKind(trigger) && { trigger }),
  };
}

export function Suspension({ onSuspend }: { onSuspend: () => void }) {
  const { namespace, name, workflow } = useEditorPart((state) => state);
  const mayPatch = useMay({ verb: 'patch', resource: WORKFLOWS, namespace, name });
  const suspended = workflow.spec.suspend === true;
  if (suspended)
    return (
      <Stack gap={6}>
        <WaitingRuns namespace={namespace} workflow={name} waiting={workflow.status?.runs?.waiting ?? 0} />
        {mayPatch && <Resume />}
      </Stack>
    );
  if (!mayPatch) return null;
  return (
    <Group>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconPlayerPause size={14} />}
        title="Refuse every run, including test runs, and pause unfinished runs that are not executing"
        onClick={onSuspend}
      >
        Suspend
      </Button>
    </Group>
  );
}

/** Resumes the workflow of the editor. */
export function useResume(): { isBusy: boolean; resume: () => Promise<void> } {
  const store = useEditorStore();
  const { namespace, name, workflow } = useEditorPart((state) => state);
  const { data: session } = useQuery(sessionQuery);
  const [isBusy, setBusy] = useState(false);
  const resume = async (): Promise<void> => {
    setBusy(true);
    const title = workflow.spec.displayName ?? name;
    const stored = await setSuspended({ namespace, name, title, by: userNameOf(session) }, false);
    if (stored !== undefined) store.update(stored);
    setBusy(false);
  };
  return { isBusy, resume };
}

function Resume() {
  const { isBusy, resume } = useResume();
  return (
    <Group>
      <Button
        size="xs"
        leftSection={<IconPlayerPlay size={14} />}
        loading={isBusy}
        onClick={() => void resume()}
      >
        Resume
      </Button>
    </Group>
  );
}
