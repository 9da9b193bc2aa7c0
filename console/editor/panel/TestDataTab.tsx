/** The default event of test runs, saved in the trigger. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { LazyCode } from '../../forms/expression/LazyCode.tsx';
import { useFormScope } from '../../forms/scope.ts';
import { isEqual } from '../../kube/patch.ts';
import { readTestData, testDataOf, triggerKind, withTestData } from '../model/testData.ts';
import type { Change } from './LoopFields.tsx';
import { MoveButton } from './MoveButton.tsx';

export function TestDataTab({ node, change }: { node: WorkflowNode; change: Change }) {
  const { isReadOnly } = useFormScope();
  const kind = triggerKind(node);
  const kept = node[kind]?.testData;
  const isKept = kept !== undefined;
  const [typed, setTyped] = useState<{ text: string; kept: unknown }>();
  // Undo, and changes of others, replace what was typed.
  const isTyped = typed !== undefined && isEqual(typed.kept, kept);
  const text = isTyped ? typed.text : JSON.stringify(testDataOf(node), null, 2);
  const read = readTestData(kind, text);
  const write = (next: string) => {
    const data = readTestData(kind, next);
    setTyped({ text: next, kept: data.ok ? withTestData(node, data.value)[kind]?.testData : kept });
    if (data.ok) change((old) => withTestData(old, data.value), 'testData');
  };
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        {kind === 'manual'
          ? 'The JSON object that test runs use by default. Nodes read it as data_content.'
          : 'The event that test runs use by default: text_content and data_content, as the trigger would produce them.'}
      </Text>
      <LazyCode
        id="test-data"
        label="Test data"
        describedBy="test-data-problem"
        value={text}
        onChange={write}
        language="json"
        isMultiline
        isReadOnly={isReadOnly}
        isInvalid={!read.ok}
        sources={{ nodes: [] }}
      />
      <Text id="test-data-problem" size="xs" c="red" role="status">
        {read.ok ? '' : read.message}
      </Text>
      {!isReadOnly && <MoveButton read={read} onMove={write} />}
      {!isKept && !isReadOnly && (
        <Group gap="xs">
          <Text size="xs" c="dimmed">
            This is an example. It is not saved in the workflow yet.
          </Text>
          <Button size="compact-xs" variant="default" disabled={!read.ok} onClick={() => write(text)}>
            Use this example
          </Button>
        </Group>
      )}
    </Stack>
  );
}
