/** The failure of a request to a model, what is done now, and the buttons that start and stop it. */
import { Button, Group, Loader, Text } from '@mantine/core';
import { FailureNote } from '../../ui/FailureNote.tsx';
import type { ModelRequest } from './useModelRequest.ts';

type Props = {
  request: Pick<ModelRequest<unknown>, 'step' | 'error' | 'stop'>;
  canStart: boolean;
  onStart: () => void;
  onClose: () => void;
};

export function RequestFooter({ request: { step, error, stop }, canStart, onStart, onClose }: Props) {
  return (
    <>
      {error !== undefined && <FailureNote error={error} />}
      <Group justify="flex-end" gap="xs">
        {step !== undefined && (
          <Group gap={8} mr="auto" role="status" wrap="nowrap">
            <Loader size={14} />
            <Text size="sm">{step}</Text>
          </Group>
        )}
        <Button variant="default" onClick={step === undefined ? onClose : stop}>
          {step === undefined ? 'Cancel' : 'Stop'}
        </Button>
        <Button disabled={step !== undefined || !canStart} onClick={onStart}>
          Propose
        </Button>
      </Group>
      <Text size="xs" c="dimmed">
        The request runs as a test run of this workflow in the project, and is listed with its runs. Proposals
        are written by a model: read them before you accept.
      </Text>
    </>
  );
}
