/** An example call of a webhook with curl, to copy. */
import { Text } from '@mantine/core';
import type { WebhookTrigger } from '../../../api/trigger.ts';
import { CopyLine } from '../../ui/copy.tsx';
import { curlOf } from './curl.ts';

export function CurlExample({ url, webhook, body }: { url: string; webhook: WebhookTrigger; body: unknown }) {
  const { command, hint } = curlOf(url, webhook, body);
  return (
    <div>
      <Text size="xs" fw={600}>
        Example with curl
      </Text>
      <CopyLine text={command} what="command" />
      {hint !== undefined && (
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
      )}
    </div>
  );
}
