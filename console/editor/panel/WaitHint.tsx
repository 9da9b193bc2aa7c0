/** What the form of a waiting node does not show: the URL of its callback, or its time as a local one. */
import { Text } from '@mantine/core';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { LabeledCopyLine } from '../../ui/copy.tsx';
import { untilText } from './untilText.ts';

type Props = { id: string; wait: NonNullable<WorkflowNode['wait']> };

export function WaitHint({ id, wait: { until, callback } }: Props) {
  if (callback !== undefined)
    return (
      <div>
        <LabeledCopyLine label="URL of the callback" text={`{{ $url('${id}') }}`} what="expression" />
        <Text size="xs" c="dimmed">
          Put it into a message or a request that a node before this one sends. Each run has a URL of its own.
        </Text>
      </div>
    );
  const time = until === undefined ? undefined : untilText(until, Date.now());
  if (time === undefined) return null;
  return (
    <Text size="xs" role="status" {...(time.isPast && { c: 'orange' })}>
      {time.text}
    </Text>
  );
}
