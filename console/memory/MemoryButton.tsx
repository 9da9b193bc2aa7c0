/** Opens what the agents of the workflow remember. Only workflows with such an agent have the button. */
import { ActionIcon, Drawer, Loader, Tooltip } from '@mantine/core';
import { IconBrain } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import type { WorkflowAt } from './memories.ts';

const WorkflowMemory = lazy(async () => ({
  default: (await import('./WorkflowMemory.tsx')).WorkflowMemory,
}));

export function MemoryButton({ at }: { at: WorkflowAt }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Tooltip label="Memory of the agents">
        <ActionIcon
          variant="subtle"
          color="gray"
          size="md"
          aria-label="Memory of the agents"
          onClick={() => setOpen(true)}
        >
          <IconBrain size={18} />
        </ActionIcon>
      </Tooltip>
      <Drawer
        opened={isOpen}
        onClose={() => setOpen(false)}
        position="right"
        size="min(860px, 100%)"
        title="Memory of the agents"
      >
        <Suspense fallback={<Loader size="sm" aria-label="Loading memory" />}>
          <WorkflowMemory at={at} />
        </Suspense>
      </Drawer>
    </>
  );
}
