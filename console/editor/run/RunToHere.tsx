/** Starts a test run that goes as far as a node. Not shown to who may not start runs. */
import { Button } from '@mantine/core';
import { IconPlayerTrackNext } from '@tabler/icons-react';
import { useMay } from '../../kube/access.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import { useEditorPart } from '../store/store.ts';
import { askForTestRun } from '../../runs/live/calls.ts';

export function RunToHere({ nodeId }: { nodeId: string }) {
  const namespace = useEditorPart((state) => state.namespace);
  const name = useEditorPart((state) => state.name);
  const mayTest = useMay({ verb: 'create', resource: WORKFLOWS, subresource: 'execute', namespace, name });
  if (!mayTest) return null;
  return (
    <Button
      variant="default"
      leftSection={<IconPlayerTrackNext size={14} />}
      onClick={() => askForTestRun(nodeId)}
    >
      Run to here
    </Button>
  );
}
