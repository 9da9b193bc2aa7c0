/** Opens what the agents of the workflow remember. Only workflows with such an agent have the button. */
import { IconBrain } from '@tabler/icons-react';
import { lazy } from 'react';
import { DrawerButton } from '../ui/SideDrawer.tsx';
import type { WorkflowAt } from './memories.ts';

const WorkflowMemory = lazy(async () => ({
  default: (await import('./WorkflowMemory.tsx')).WorkflowMemory,
}));

export function MemoryButton({ at }: { at: WorkflowAt }) {
  return (
    <DrawerButton label="Agent memory" icon={<IconBrain size={18} />} width={860}>
      <WorkflowMemory at={at} />
    </DrawerButton>
  );
}
