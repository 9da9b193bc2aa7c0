/** What the node has sent in the run on the canvas, or why that is not shown. */
import { Text } from '@mantine/core';
import type { NodeView } from '../../runs/live/nodeView.ts';
import { sentOf } from '../../runs/live/sentValues.ts';
import { REDACTED } from '../../runs/output/OutputView.tsx';
import { SentView } from '../../runs/SentView.tsx';

export function SentTab({ view }: { view: NodeView | undefined }) {
  if (view !== undefined && sentOf(view) !== undefined) return <SentView node={view} />;
  return (
    <Text size="xs" c="dimmed">
      {view?.redacted === true ? REDACTED : NOTHING}
    </Text>
  );
}

const NOTHING =
  'Nothing to show. After a run, this tab shows the parameters of nodes that send something, with references replaced by their values.';
