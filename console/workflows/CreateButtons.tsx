/** The buttons below a form for a new workflow. */
import { Button, Group } from '@mantine/core';

/** Closes the dialog that the form is in; undefined: it is in none. */
export type Cancelling = { onCancel?: (() => void) | undefined };

type Props = Cancelling & {
  isPending?: boolean;
  isDisabled?: boolean;
  /** Undefined: the button submits its form. */
  onCreate?: () => void;
  className?: string;
};

export function CreateButtons({ onCancel, isPending = false, isDisabled, onCreate, className = '' }: Props) {
  return (
    <Group justify="flex-end" gap="xs" className={className}>
      {onCancel && (
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
      )}
      <Button
        {...(onCreate ? { onClick: onCreate } : { type: 'submit' })}
        loading={isPending}
        disabled={isDisabled === true}
      >
        Create and open
      </Button>
    </Group>
  );
}
