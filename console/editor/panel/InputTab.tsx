/** What the nodes before this one produced last: drag a line into an input, or click it to copy the expression. */
import { Text } from '@mantine/core';
import { ReferenceTree } from '../../forms/expression/ReferenceTree.tsx';
import { useFormScope } from '../../forms/scope.ts';
import { copyText } from '../../ui/copy.tsx';

export function InputTab() {
  const { sources } = useFormScope();
  if (sources.nodes.length === 0)
    return (
      <Text size="xs" c="dimmed">
        Nothing is connected to this node. Connect it to the node whose output it should use.
      </Text>
    );
  return (
    <>
      <Text size="xs" c="dimmed" mb="xs">
        Drag a value into a field, or click it to copy the expression.
      </Text>
      <ReferenceTree
        sources={sources}
        onPick={(reference) => void copyText(`{{ ${reference} }}`, 'expression')}
      />
    </>
  );
}
