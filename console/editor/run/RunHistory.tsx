/** The runs of the workflow that is edited, beside its canvas: choosing one shows it there. */
import { ActionIcon, Drawer, Loader, Tooltip } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';

const WorkflowRuns = lazy(async () => ({
  default: (await import('../../runs/WorkflowRuns.tsx')).WorkflowRuns,
}));

export function RunHistory({ namespace, workflow }: { namespace: string; workflow: string }) {
  const [isOpen, setOpen] = useState(false);
  const { run } = useSearch({ strict: false });
  useEffect(() => setOpen(false), [run]);
  return (
    <>
      <Tooltip label="Runs of this workflow">
        <ActionIcon
          variant="subtle"
          color="gray"
          size="md"
          aria-label="Runs of this workflow"
          onClick={() => setOpen(true)}
        >
          <IconHistory size={18} />
        </ActionIcon>
      </Tooltip>
      <Drawer
        opened={isOpen}
        onClose={() => setOpen(false)}
        position="right"
        size="min(980px, 100%)"
        title="Runs of this workflow"
        styles={{
          content: { display: 'flex', flexDirection: 'column' },
          body: { flex: 1, minHeight: 0, display: 'flex', flexDirection: 'column' },
        }}
      >
        <Suspense fallback={<Loader size="sm" aria-label="Loading runs" />}>
          <WorkflowRuns namespace={namespace} workflow={workflow} />
        </Suspense>
      </Drawer>
    </>
  );
}
