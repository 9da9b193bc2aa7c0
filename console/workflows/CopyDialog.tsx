/** Asks for the name and the ID of a copy, creates it, and opens it. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode, SyntheticEvent } from 'react';
import { FailureNote } from '../ui/FailureNote.tsx';
import { useReturnFocus } from '../ui/useReturnFocus.ts';
import { createWorkflow, type NewWorkflow } from './create.ts';
import { NameFields, useCreate, useNames } from './NameFields.tsx';
import { LONGEST_DISPLAY_NAME } from './names.ts';

type Props = {
  project: string;
  /** The IDs of the project's workflows. */
  taken: ReadonlySet<string>;
  title: string;
  /** The name of the original. */
  of: string;
  /** What happens to the copy, in a sentence. */
  children: ReactNode;
  /** The button that creates it. */
  submit: string;
  /** The copy with this ID and name. A failure is shown. */
  copy: (names: { name: string; title: string }) => NewWorkflow | Promise<NewWorkflow>;
  create?: typeof createWorkflow;
  onClose: () => void;
};

export function CopyDialog(props: Props) {
  useReturnFocus();
  const { project, taken, title, of, children, submit, copy, create = createWorkflow, onClose } = props;
  const creation = useCreate(project, create);
  const { created } = creation;
  const names = useNames(taken, { displayName: `${of} (copy)`.slice(0, LONGEST_DISPLAY_NAME), created });
  const making = useMutation({ mutationFn: async (named: { name: string; title: string }) => copy(named) });
  const make = async (event: SyntheticEvent): Promise<void> => {
    event.preventDefault();
    if (names.problem !== undefined) return;
    const displayName = names.displayName.trim();
    const made = { name: names.name, title: displayName === '' ? names.name : displayName };
    creation.mutate(await making.mutateAsync(made));
  };
  const error = making.error ?? creation.error;
  return (
    <Modal opened onClose={onClose} title={title}>
      {/* The dialog shows the error of the mutation. */}
      <form onSubmit={(event) => void make(event).catch(() => undefined)} noValidate>
        <Stack>
          <NameFields names={names} showsProblem />
          <Text size="xs" c="dimmed">
            {children}
          </Text>
          {error !== null && <FailureNote error={error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={making.isPending || creation.isPending}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
