/** Corrects test data that is the body alone, as other editors have it. */
import { Button } from '@mantine/core';
import type { ReadTestData } from '../model/testData.ts';

type Props = { read: ReadTestData; onMove: (text: string) => void };

/** Shown where the unknown fields of the test data can be moved. */
export function MoveButton({ read, onMove }: Props) {
  if (read.ok || read.moved === undefined) return null;
  const { moved } = read;
  return (
    <Button
      size="compact-xs"
      variant="default"
      style={{ alignSelf: 'flex-start' }}
      onClick={() => onMove(JSON.stringify(moved, null, 2))}
    >
      Move into data_content
    </Button>
  );
}
