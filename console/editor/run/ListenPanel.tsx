/** Shows where a test run listens for its event, and for how long. */
import { Button, Group, Loader, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { WebhookTrigger } from '../../../api/trigger.ts';
import { CopyLine } from '../../ui/copy.tsx';
import { CurlExample } from '../activation/CurlExample.tsx';
import type { Listening } from './listening.ts';

type Props = {
  /** Undefined while its URL is being opened. */
  listening: Listening | undefined;
  webhook: WebhookTrigger;
  /** The body of the example call. */
  example: unknown;
  onStop: () => void;
};

export function ListenPanel({ listening, webhook, example, onStop }: Props) {
  return (
    <Stack gap="sm">
      {listening === undefined ? (
        <Group gap={8} role="status" wrap="nowrap">
          <Loader size={14} />
          <Text size="sm">Opening a URL for one event…</Text>
        </Group>
      ) : (
        <Where listening={listening} webhook={webhook} example={example} />
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onStop} autoFocus>
          Stop listening
        </Button>
      </Group>
    </Stack>
  );
}

function Where({
  listening: { url, until },
  webhook,
  example,
}: Omit<Props, 'onStop' | 'listening'> & { listening: Listening }) {
  const isPublic = webhook.auth === undefined || webhook.auth.none !== undefined;
  return (
    <>
      <Group gap={8} role="status" wrap="nowrap">
        <Loader size={14} type="dots" />
        <Text size="sm">Listening for one event. It starts the test run.</Text>
      </Group>
      <div>
        <Text size="xs" fw={600}>
          URL for this event
        </Text>
        <CopyLine text={url} what="URL" />
        <Text size="xs" c="dimmed">
          Enter it in the system that sends events, in place of the URL of the workflow. It takes one event
          and closes in <Remaining until={until} />.{' '}
          {isPublic ? 'Anyone who knows it can send the event.' : 'Senders are verified as the trigger says.'}
        </Text>
      </div>
      <CurlExample url={url} webhook={webhook} body={example} />
    </>
  );
}

/** The time left, as minutes and seconds. */
function Remaining({ until }: { until: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((Date.parse(until) - now) / 1_000));
  const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return (
    <Text span inherit aria-live="off">
      {text}
    </Text>
  );
}
