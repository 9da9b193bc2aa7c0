/** How often a node runs: once, for each item of a list, or again until a condition holds. */
import { Input, SegmentedControl, Stack, Text } from '@mantine/core';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { SchemaForm } from '../../forms/inputs/SchemaForm.tsx';
import { FormContext, useFormScope } from '../../forms/scope.ts';
import { useShapes } from '../../forms/useShapes.ts';
import { valuesOf, type Values } from '../../forms/values.ts';
import { useLastResults } from '../../runs/live/runStore.ts';
import { LOOPS } from '../../workflows/kinds.ts';
import { useEditor } from '../store/store.ts';
import { loopFields } from './nodeFields.ts';
import { withPinnedOutputs } from '../model/pins.ts';
import { loopSourcesOf } from './sources.ts';

/** Changes the node. Changes of the same field are one undo step. */
export type Change = (change: (node: WorkflowNode) => WorkflowNode, field: string) => void;

type Loop = (typeof LOOPS)[number];

const MODES: { value: Loop | 'once'; label: string; help: string }[] = [
  { value: 'once', label: 'Once', help: '' },
  {
    value: 'forEach',
    label: 'For each item',
    help: 'Runs once for each item of a list. Inside, $item is the item and $index its position from 0. The output is the list of the results.',
  },
  {
    value: 'repeat',
    label: 'Repeat until',
    help: 'Runs again until the condition holds. Inside, $previous is the output of the execution before.',
  },
];

/** The values of a loop that was just chosen. */
const NEW: Record<Loop, object> = { forEach: { items: '' }, repeat: { until: '', limit: 10 } };

export function LoopFields({ node, change }: { node: WorkflowNode; change: Change }) {
  const scope = useFormScope();
  const { draft, shownItems } = useEditor();
  const outputs = useLastResults();
  const loop = LOOPS.find((name) => node[name] !== undefined);
  const sources = loopSourcesOf(draft.spec, node.id, withPinnedOutputs(outputs, draft), shownItems);
  const mode = MODES.find(({ value }) => value === (loop ?? 'once'));
  const shapes = useShapes('loop', 'kind');
  const choose = (next: string): void => {
    const { values: before } = shapes.get();
    if (loop !== undefined) shapes.keep({ values: { ...before, [loop]: node[loop] } });
    const chosen = LOOPS.find((name) => name === next);
    const values = chosen && { [chosen]: before[chosen] ?? NEW[chosen] };
    change(({ forEach: _items, repeat: _until, ...rest }) => ({ ...rest, ...values }), 'loop');
  };
  const set = (values: Values): void =>
    change((old) => (loop === undefined ? old : { ...old, [loop]: values }), `${loop}`);
  return (
    <Stack gap="sm">
      <Input.Wrapper size="xs" label="Run" labelElement="div">
        <SegmentedControl
          size="xs"
          fullWidth
          aria-label="Run"
          disabled={scope.isReadOnly}
          value={mode?.value ?? 'once'}
          data={MODES.map(({ value, label }) => ({ value, label }))}
          onChange={choose}
        />
        {mode !== undefined && mode.help !== '' && (
          <Text size="xs" c="dimmed" mt={4}>
            {mode.help}
          </Text>
        )}
      </Input.Wrapper>
      {loop !== undefined && (
        <FormContext value={{ ...scope, sources: loop === 'forEach' ? sources.items : sources.until }}>
          <SchemaForm
            key={loop}
            fields={loopFields(loop, node.id)}
            path={loop}
            values={valuesOf(node[loop])}
            onChange={set}
          />
        </FormContext>
      )}
    </Stack>
  );
}
