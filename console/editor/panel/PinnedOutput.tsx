/** Pins the output of a node for test runs, shows and edits the pinned one, and removes it. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconPinned, IconPinnedOff } from '@tabler/icons-react';
import { useState } from 'react';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { LazyCode } from '../../forms/expression/LazyCode.tsx';
import { isEqual } from '../../kube/patch.ts';
import { useLastResults } from '../../runs/live/runStore.ts';
import { notifyProblem } from '../../ui/notify.tsx';
import { isTrigger } from '../../workflows/kinds.ts';
import { nodeOf } from '../model/model.ts';
import { pinOf, withoutPin, withPin, type Pin } from '../model/pin.ts';
import { isPinnable, lastPin, pinProblem, readPin, unpinnableNote } from '../model/pins.ts';
import { useEditor } from '../store/store.ts';

const EMPTY: Pin = { text_content: '', data_content: {} };

/** The padding of the buttons of an output: all of them are in one row, also on a narrow screen. */
export const IN_ROW = { base: 5, xs: 8 };

/** The button that pins the last output, or an empty one to be written. */
export function PinButton({ nodeId }: { nodeId: string }) {
  const { draft, isReadOnly, apply } = useEditor();
  const last = useLastResults().get(nodeId);
  const node = nodeOf(draft, nodeId);
  if (isReadOnly || node === undefined || pinOf(draft, nodeId) !== undefined) return null;
  const note = unpinnableNote(node);
  if (note !== undefined)
    return (
      <Text size="xs" c="dimmed">
        {note}
      </Text>
    );
  if (!(isTrigger(node) || isPinnable(node))) return null;
  const output = lastPin(last);
  const pin = (): void => {
    const problem = pinProblem(draft, nodeId, output ?? EMPTY);
    if (problem !== undefined) return notifyProblem('Could not pin the output', problem);
    apply((before) => withPin(before, nodeId, output ?? EMPTY));
  };
  return (
    <Button variant="default" px={IN_ROW} leftSection={<IconPinned size={14} />} onClick={pin}>
      Pin output
    </Button>
  );
}

/** The pinned output of a node; nothing if it has none. */
export function PinnedOutput({ nodeId }: { nodeId: string }) {
  const { draft } = useEditor();
  const node = nodeOf(draft, nodeId);
  const pin = pinOf(draft, nodeId);
  return node === undefined || pin === undefined ? null : <Pinned key={nodeId} node={node} pin={pin} />;
}

function Pinned({ node, pin }: { node: WorkflowNode; pin: Pin }) {
  const { draft, isReadOnly, apply } = useEditor();
  const nodeId = node.id;
  const [typed, setTyped] = useState<{ text: string; pin: Pin }>();
  // Undo, and changes of others, replace what was typed.
  const isTyped = typed !== undefined && isEqual(typed.pin, pin);
  const text = isTyped ? typed.text : JSON.stringify(pin, null, 2);
  const read = readPin(text);
  const problem = 'message' in read ? read.message : pinProblem(draft, nodeId, read.pin);
  const write = (next: string): void => {
    const found = readPin(next);
    const isUsable = 'pin' in found && pinProblem(draft, nodeId, found.pin) === undefined;
    setTyped({ text: next, pin: isUsable ? found.pin : pin });
    if (isUsable) apply((before) => withPin(before, nodeId, found.pin), { key: `${nodeId} pin` });
  };
  return (
    <Alert
      color="violet"
      variant="light"
      p="xs"
      icon={<IconPinned size={16} />}
      title="Pinned output"
      role="group"
      aria-label="Pinned output"
    >
      <Stack gap="xs">
        <Text size="xs">
          {isTrigger(node)
            ? 'Test runs start with it, unless you change the event. It is never published.'
            : 'Test runs use it instead of executing the node. Other runs execute the node. It is never published.'}
        </Text>
        <LazyCode
          id={`pin-${nodeId}`}
          label={`Pinned output of ${nodeId}`}
          describedBy={`pin-problem-${nodeId}`}
          value={text}
          onChange={write}
          language="json"
          isMultiline
          isReadOnly={isReadOnly}
          isInvalid={problem !== undefined}
          sources={{ nodes: [] }}
        />
        <Text id={`pin-problem-${nodeId}`} size="xs" c="red" role="status">
          {problem === undefined ? '' : `${problem} Test runs use the last valid output.`}
        </Text>
        {!isReadOnly && (
          <Group gap="xs">
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconPinnedOff size={14} />}
              onClick={() => apply((before) => withoutPin(before, nodeId))}
            >
              Unpin
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  );
}
