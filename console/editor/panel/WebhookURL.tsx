/** The URL of a webhook, where its parameters are. */
import { Text } from '@mantine/core';
import { LabeledCopyLine } from '../../ui/copy.tsx';
import { useEditorPart } from '../store/store.ts';

export function WebhookURL() {
  const url = useEditorPart(({ workflow }) => workflow.status?.url);
  if (url === undefined)
    return (
      <Text size="xs" c="dimmed">
        The URL appears here when the workflow is active.
      </Text>
    );
  return <LabeledCopyLine label="URL" text={url} what="webhook URL" />;
}
