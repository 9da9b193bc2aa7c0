/** Pins the outputs of the run on the canvas, so that test runs continue from where it failed. */
import { Button, Tooltip } from '@mantine/core';
import { IconPinned } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useRunView } from '../../runs/live/runStore.ts';
import { notifyFailure, notifyProblem, notifySuccess } from '../../ui/notify.tsx';
import { allPinsProblem, withRunPinned } from '../model/pins.ts';
import { useEditorPart, useEditorStore } from '../store/store.ts';
import { computingQuery } from '../../forms/computing.ts';

export function PinRun() {
  const store = useEditorStore();
  const client = useQueryClient();
  const isReadOnly = useEditorPart((state) => state.isReadOnly);
  const { nodes } = useRunView();
  if (isReadOnly) return null;
  const pinAll = async (): Promise<void> => {
    try {
      const computing = await client.ensureQueryData(computingQuery);
      const { draft, pinned, skipped } = withRunPinned(store.get().draft, [...nodes.values()], computing);
      const problem = allPinsProblem(draft);
      if (problem !== undefined) return notifyProblem('Could not pin the outputs', problem);
      const cut = skipped.length === 0 ? '' : ` Not complete in the record: ${skipped.join(', ')}.`;
      if (pinned.length === 0) return notifyProblem('Nothing to pin', `No node has a complete output.${cut}`);
      store.apply(() => draft);
      notifySuccess(`Outputs pinned: ${pinned.join(', ')}.${cut}`, { text: 'Undo', onClick: store.undo });
    } catch (error) {
      notifyFailure('Could not pin the outputs', error);
    }
  };
  return (
    <Tooltip label="Test runs then use the event and the outputs of this run, and execute the other nodes">
      <Button
        variant="subtle"
        px={6}
        style={{ flexShrink: 0 }}
        leftSection={<IconPinned size={14} />}
        onClick={() => void pinAll()}
      >
        Pin outputs
      </Button>
    </Tooltip>
  );
}
