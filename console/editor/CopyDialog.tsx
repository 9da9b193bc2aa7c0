/** Makes a workflow of one's own out of one that something else manages, with the changes that were tried. */
import { Button, Group, Modal, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { tellFailure } from '../ui/tell.tsx';
import { createWorkflow } from '../workflows/create.ts';
import { copiedSpec } from '../workflows/manifest.ts';
import { nameProblem } from '../workflows/names.ts';
import { useEditor } from './store/store.ts';

const NONE: ReadonlySet<string> = new Set();

export function CopyDialog({ onClose }: { onClose: () => void }) {
  const { namespace, name: original, draft, discard } = useEditor();
  const [name, setName] = useState(`${original.slice(0, 58)}-copy`);
  const [isBusy, setBusy] = useState(false);
  const navigate = useNavigate();
  const problem = nameProblem(name, NONE);
  const copy = async (): Promise<void> => {
    setBusy(true);
    try {
      const title = `${draft.spec.displayName ?? original} (copy)`;
      await createWorkflow(namespace, { name, spec: copiedSpec(draft.spec, title) });
      discard();
      await navigate({
        to: '/p/$project/workflows/$workflow',
        params: { project: namespace, workflow: name },
      });
      onClose();
    } catch (error) {
      tellFailure('Could not create the copy', error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title="Edit a copy">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (problem === undefined) void copy();
        }}
      >
        <Text size="sm" mb="sm">
          The copy is not managed by Git or another tool. It is inactive until you activate it.
        </Text>
        <TextInput
          label="Name"
          value={name}
          error={problem}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Group justify="flex-end" mt="md">
          <Button type="submit" loading={isBusy} disabled={problem !== undefined}>
            Create copy
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
