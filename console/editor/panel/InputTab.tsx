/** What the node can refer to, as a tree: values are dragged into fields or copied. */
import { Group, Text } from '@mantine/core';
import { DocLink } from '../../docs/DocLink.tsx';
import { REFERENCE_DOC } from '../../docs/links.ts';
import { ReferenceTree } from '../../forms/expression/ReferenceTree.tsx';
import { useFormScope } from '../../forms/scope.ts';
import { ItemPager } from '../../runs/LoopOutput.tsx';
import { copyText } from '../../ui/copy.tsx';
import { useEditorStore } from '../store/store.ts';

export function InputTab() {
  const { sources } = useFormScope();
  const { showItem } = useEditorStore();
  if (sources.nodes.length === 0)
    return (
      <Text size="xs" c="dimmed">
        Nothing is connected to this node. Connect it to the node whose output it should use.
      </Text>
    );
  const { element } = sources;
  return (
    <>
      {element?.count !== undefined && element.count > 1 && (
        <Group gap="xs" mb="xs">
          <Text size="xs">Item of {element.loop}</Text>
          <ItemPager
            index={element.index}
            total={element.count}
            onIndex={(index) => showItem(element.loop, index)}
          />
        </Group>
      )}
      <Text size="xs" c="dimmed" mb="xs">
        Drag a value into a field, or click it to copy the expression.{' '}
        <DocLink to={REFERENCE_DOC}>References</DocLink>
      </Text>
      <ReferenceTree
        sources={sources}
        onPick={(reference) => void copyText(`{{ ${reference} }}`, 'expression')}
      />
    </>
  );
}
