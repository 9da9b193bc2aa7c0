/** Suspends the workflow, which refuses every run, and resumes it. */
import { Button, Group } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { useMay } from '../../kube/access.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import { setSuspended } from '../../workflows/suspend.ts';
import { useEditorPart, useEditorStore } from '../store.ts';

export function Suspension() {
  const store = useEditorStore();
  const { namespace, name, workflow } = useEditorPart((state) => state);
  const mayPatch = useMay({ verb: 'patch', resource: WORKFLOWS, namespace, name });
  const [isBusy, setBusy] = useState(false);
  const suspended = workflow.spec.suspend === true;
  const change = async (): Promise<void> => {
    setBusy(true);
    const title = workflow.spec.displayName ?? name;
    const stored = await setSuspended({ namespace, name, title }, !suspended);
    if (stored !== undefined) store.see(stored);
    setBusy(false);
  };
  if (!mayPatch) return null;
  const Icon = suspended ? IconPlayerPlay : IconPlayerPause;
  return (
    <Group>
      <Button
        size="xs"
        variant={suspended ? 'filled' : 'default'}
        leftSection={<Icon size={14} />}
        loading={isBusy}
        title={suspended ? undefined : 'Refuse every run, also test runs, and hold back runs that wait'}
        onClick={() => void change()}
      >
        {suspended ? 'Resume' : 'Suspend'}
      </Button>
    </Group>
  );
}
