/**
 * Connects an account. Browsers allow a window only on a click, so it opens at once and navigates to the
 * provider when the link is there; the last page in it closes it. The result appears in the status of the
 * credential, so closing the window early does no harm.
 */
import { Anchor, Button, Group, Loader, Text } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useState } from 'react';
import { callJson } from '../http/call.ts';
import type { CredentialObject } from '../kube/resources.ts';
import { notifyFailure } from '../ui/notify.tsx';
import { connectingState, connectionMark, webLink, type Link } from './connecting.ts';
import { connectLabel, readyOf } from './state.ts';

type Attempt = {
  /** The status before connecting. */
  mark: string;
  link?: Link;
  popup: Window | null;
};

export function ConnectButton({ credential }: { credential: CredentialObject }) {
  const { namespace = '', name } = credential.metadata;
  const [attempt, setAttempt] = useState<Attempt>();
  const ready = readyOf(credential.status);
  const state = attempt && connectingState(credential, attempt.mark);

  const begin = async (): Promise<void> => {
    const popup = window.open('about:blank', 'windlass-connect', 'popup,width=560,height=760');
    // The provider's pages must not control this page.
    if (popup !== null) popup.opener = null;
    const mark = connectionMark(credential);
    setAttempt({ mark, popup });
    try {
      const link = await requestLink(namespace, name);
      if (popup !== null && !popup.closed) popup.location.href = link.url;
      setAttempt({ mark, popup, link });
    } catch (error) {
      popup?.close();
      setAttempt(undefined);
      notifyFailure(`Could not connect ${name}`, error);
    }
  };
  return (
    <Group gap="sm">
      <Button
        variant={ready?.status === 'True' ? 'default' : 'filled'}
        leftSection={<IconPlugConnected size={14} />}
        onClick={() => void begin()}
      >
        {connectLabel(ready ?? {})}
      </Button>
      <div role="status">
        {attempt && state && <AttemptStatus attempt={attempt} state={state} message={ready?.message ?? ''} />}
      </div>
    </Group>
  );
}

async function requestLink(namespace: string, name: string): Promise<Link> {
  const id = `${encodeURIComponent(namespace)}.${encodeURIComponent(name)}`;
  return webLink(await callJson<Link>(`/credentials/${id}/connect`, { method: 'POST' }));
}

type WordsProps = { attempt: Attempt; state: ReturnType<typeof connectingState>; message: string };

function AttemptStatus({ attempt: { link, popup }, state, message }: WordsProps) {
  if (state === 'connected') return <Text size="xs">Connected.</Text>;
  if (state === 'refused')
    return (
      <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
        Not connected: {message}
      </Text>
    );
  return (
    <Group gap="xs">
      <Loader size={14} />
      <Text size="xs">
        {popup === null && link !== undefined
          ? 'The browser blocked the window.'
          : 'Waiting for you to sign in in the other window.'}
      </Text>
      {link !== undefined && (
        <Anchor href={link.url} target="_blank" rel="noreferrer" size="xs">
          {popup === null ? 'Sign in at the provider' : 'Reopen the window'}
        </Anchor>
      )}
    </Group>
  );
}
