/** Tries a credential and shows what was found as soon as it is known. */
import { Button, Group, Loader, Text } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useState } from 'react';
import type { CredentialObject } from '../kube/resources.ts';
import { tellFailure } from '../ui/tell.tsx';
import { readyOf } from './ready.ts';
import { credentialState } from './state.ts';
import { askForTrial, isAskedFor, trialWords } from './trial.ts';

type Props = { credential: CredentialObject };

export function TrialPanel({ credential }: Props) {
  const { namespace = '', name } = credential.metadata;
  const [isAsking, setAsking] = useState(false);
  const [wasAsked, setAsked] = useState(false);
  const words = trialWords(credential.spec);
  // Whoever has asked, here or elsewhere, by a button or by a change.
  const isTrying = isAsking || isAskedFor(credential);
  const begin = async (): Promise<void> => {
    setAsking(true);
    try {
      await askForTrial({ namespace, name });
      setAsked(true);
    } catch (error) {
      tellFailure(`Could not test ${name}`, error);
    } finally {
      setAsking(false);
    }
  };
  if (words === undefined)
    return (
      <Text size="xs" c="dimmed">
        This kind of credential cannot be tested.
      </Text>
    );
  return (
    <Group gap="sm">
      <Button
        variant="default"
        leftSection={<IconPlugConnected size={14} />}
        onClick={() => void begin()}
        disabled={isTrying}
      >
        Test
      </Button>
      <Group gap="xs" role="status">
        {isTrying && <Loader size={14} />}
        <Text size="xs" c="dimmed">
          {isTrying ? `${words} ${waitingWords(credential)}` : wasAsked ? doneWords(credential) : words}
        </Text>
      </Group>
    </Group>
  );
}

function waitingWords({ status }: CredentialObject): string {
  const ready = readyOf(status);
  return ready?.reason === 'NotChecked' ? ready.message : 'This takes up to 15 seconds.';
}

function doneWords({ status }: CredentialObject): string {
  const ready = readyOf(status);
  return `Tested: ${credentialState(ready ?? {}).word.toLowerCase()}.`;
}
