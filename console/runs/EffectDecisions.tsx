/** Asks what happened to effects whose outcome is unknown, before a run continues. */
import { Button, Group, JsonInput, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { NodeView } from './live/nodeView.ts';
import { NodeTitle } from './NodeTitle.tsx';
import { decisionsOf, isOutput, itemsLeft, type Decision, type Entered } from './resume.ts';
import { named, type NodeNames } from '../workflows/nodeNames.ts';

type Props = {
  /** The nodes whose effect may have happened. */
  ids: readonly string[];
  nodes: ReadonlyMap<string, NodeView>;
  names: NodeNames;
  isBusy: boolean;
  onCancel: () => void;
  onDecide: (decisions: Decision[]) => void;
};

export function EffectDecisions({ ids, nodes, names, isBusy, onCancel, onDecide }: Props) {
  const [entered, setEntered] = useState<Record<string, Entered>>({});
  const decisions = decisionsOf(ids, entered);
  const enter = (id: string, change: Partial<Entered>): void =>
    setEntered((before) => ({ ...before, [id]: { output: '', ...before[id], ...change } }));
  return (
    <Stack>
      <Text size="sm">
        The runner stopped while it executed {ids.length === 1 ? 'this node' : 'these nodes'}. Check at the
        service, for example in the mailbox, whether the effect happened. A new run continues with your
        answer; nodes that succeeded are not repeated.
      </Text>
      {ids.map((id) => {
        const { outcome, output = '' } = entered[id] ?? {};
        return (
          <Stack key={id} gap="xs">
            <Radio.Group
              label={<NodeTitle id={id} names={names} />}
              value={outcome ?? null}
              onChange={(next) => enter(id, { outcome: next })}
            >
              <Stack gap={6} mt={6}>
                <Radio size="xs" value="AssumeNotDone" label="It did not happen: execute the node again" />
                <Radio size="xs" value="AssumeDone" label={labelOfDone(itemsLeft(nodes.get(id)))} />
              </Stack>
            </Radio.Group>
            {outcome === 'AssumeDone' && (
              <JsonInput
                size="xs"
                label={`Output of ${named(names, id)} (JSON)`}
                description="What later nodes read as data_content. Leave it empty for no output."
                value={output}
                onChange={(text) => enter(id, { output: text })}
                error={isOutput(output) ? undefined : 'Enter valid JSON.'}
                autosize
                minRows={2}
                maxRows={10}
                spellCheck={false}
              />
            )}
          </Stack>
        );
      })}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button
          loading={isBusy}
          disabled={decisions === undefined}
          onClick={() => decisions && onDecide(decisions)}
        >
          Continue in a new run
        </Button>
      </Group>
    </Stack>
  );
}

function labelOfDone(left: number): string {
  const label = 'It happened: continue after the node';
  return left === 0 ? label : `${label}, without its items that have not ended (${left})`;
}
