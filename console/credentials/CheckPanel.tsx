/** Tests a credential and shows the result as soon as it is known. */
import { Button, Group, Loader, Text } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import type { CredentialObject } from '../kube/resources.ts';
import { notifyFailure } from '../ui/notify.tsx';
import { checkDescription, isCheckRequested, requestCheck } from './check.ts';
import { credentialState, readyOf } from './state.ts';

type Props = {
  credential: CredentialObject;
  /** Buttons beside it. */
  children?: ReactNode;
};

export function CheckPanel({ credential, children }: Props) {
  const { namespace = '', name } = credential.metadata;
  const [isAsking, setAsking] = useState(false);
  const [wasAsked, setAsked] = useState(false);
  const words = checkDescription(credential.spec);
  // Includes checks that other users or changes requested.
  const isChecking = isAsking || isCheckRequested(credential);
  const begin = async (): Promise<void> => {
    setAsking(true);
    try {
      await requestCheck({ namespace, name });
      setAsked(true);
    } catch (error) {
      notifyFailure(`Could not test ${name}`, error);
    } finally {
      setAsking(false);
    }
  };
  if (words === undefined)
    return (
      <Group gap="xs">
        {children}
        <Text size="xs" c="dimmed">
          This kind of credential cannot be tested.
        </Text>
      </Group>
    );
  return (
    <Group gap="sm">
      <Button
        variant="default"
        leftSection={<IconPlugConnected size={14} />}
        onClick={() => void begin()}
        disabled={isChecking}
      >
        Test
      </Button>
      {children}
      <Group gap="xs" role="status">
        {isChecking && <Loader size={14} />}
        <Text size="xs" c="dimmed">
          {isChecking ? `${words} ${pendingText(credential)}` : wasAsked ? resultText(credential) : words}
        </Text>
      </Group>
    </Group>
  );
}

function pendingText({ status }: CredentialObject): string {
  const ready = readyOf(status);
  return ready?.reason === 'NotChecked' ? ready.message : 'This takes up to 15 seconds.';
}

function resultText({ status }: CredentialObject): string {
  const ready = readyOf(status);
  return `Tested: ${credentialState(ready ?? {}).word.toLowerCase()}.`;
}
