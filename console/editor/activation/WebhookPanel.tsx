/** A webhook that is active: its URL, a call of it, and the next request as it comes. */
import { Stack, Text } from '@mantine/core';
import type { WebhookTrigger } from '../../../api/trigger.ts';
import { useLastOutputs } from '../../runs/live/runStore.ts';
import { CopyLine } from '../../ui/CopyLine.tsx';
import { curlOf } from './curl.ts';
import { WaitingForRequest } from './WaitingForRequest.tsx';

type Props = {
  namespace: string;
  workflow: string;
  triggerId: string;
  webhook: WebhookTrigger;
  /** Undefined: not served yet. */
  url: string | undefined;
};

export function WebhookPanel({ namespace, workflow, triggerId, webhook, url }: Props) {
  const last = useLastOutputs().get(triggerId)?.data_content;
  if (url === undefined)
    return (
      <Text size="sm" c="dimmed">
        The URL appears when the workflow is served.
      </Text>
    );
  const { command, hint } = curlOf(url, webhook, webhook.testData?.data_content ?? last);
  return (
    <Stack gap="sm">
      <div>
        <Text size="xs" fw={600}>
          URL
        </Text>
        <CopyLine text={url} what="URL" />
      </div>
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
        <PublicNote webhook={webhook} />
      </div>
      <WaitingForRequest namespace={namespace} workflow={workflow} triggerId={triggerId} />
    </Stack>
  );
}

/** Says that anybody may call, and what to do where nobody said that this is on purpose. */
function PublicNote({ webhook: { auth } }: Pick<Props, 'webhook'>) {
  if (auth !== undefined && auth.none === undefined) return null;
  return (
    <Text size="xs" c={auth === undefined ? undefined : 'dimmed'} mt={6}>
      {auth === undefined
        ? 'Public: anyone who knows the URL can start runs. Set Auth in the parameters of the trigger to verify callers or to confirm that the webhook is public.'
        : 'Public by choice: anyone who knows the URL can start runs.'}
    </Text>
  );
}
