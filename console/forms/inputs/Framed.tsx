/** The frame of nested inputs, and the buttons that add and remove their rows. */
import { ActionIcon, Button, Input, Stack } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { keepFocus } from '../../ui/keepFocus.ts';
import { FieldLabel } from '../FieldLabel.tsx';

type GroupProps = {
  field: { label: string; help?: string; isRequired: boolean };
  error: string | undefined;
  actions?: React.ReactNode;
  children: React.ReactNode;
};

export function Framed({ field, error, actions, children }: GroupProps) {
  return (
    <Input.Wrapper
      size="xs"
      role="group"
      aria-label={field.label}
      labelElement="div"
      label={<FieldLabel label={field.label} isRequired={field.isRequired} actions={actions} />}
      labelProps={{ style: { width: '100%' } }}
      description={field.help}
      error={error}
    >
      <Stack gap={6} pl="sm" style={{ borderLeft: '2px solid var(--mantine-color-default-border)' }}>
        {children}
      </Stack>
    </Input.Wrapper>
  );
}

/** Adds a row. The mark `data-add` is where the focus goes when a row of the group is removed. */
export function AddButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      leftSection={<IconPlus size={14} />}
      onClick={onClick}
      aria-label={label}
      data-add
      style={{ alignSelf: 'flex-start' }}
    >
      Add
    </Button>
  );
}

/** `isSmall`: in the line of a label. */
type RemoveProps = { label: string; onClick: () => void; isSmall?: boolean };

/** Removes a row, and gives the focus to the button of its group that adds one. */
export function RemoveButton({ label, onClick, isSmall = false }: RemoveProps) {
  return (
    <ActionIcon
      size={isSmall ? 'xs' : 30}
      variant="subtle"
      color="gray"
      aria-label={label}
      onClick={({ currentTarget }) =>
        keepFocus(currentTarget.closest('[role=group]'), onClick, 'button[data-add]')
      }
    >
      <IconTrash size={isSmall ? 14 : 16} />
    </ActionIcon>
  );
}
