/** A node in a run: its display name, and its ID in small letters after it. */
import { Text } from '@mantine/core';
import type { NodeNames } from '../workflows/nodeNames.ts';

export function NodeTitle({ id, names }: { id: string; names: NodeNames }) {
  const name = names.get(id);
  if (name === undefined) return id;
  return (
    <>
      {name}{' '}
      <Text span size="xs" c="dimmed" fw={400}>
        {id}
      </Text>
    </>
  );
}
