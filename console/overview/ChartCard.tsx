/** A card with a chart and the same as a table: whichever the reader likes. */
import { Button, Card, Group, ScrollArea, Skeleton, Table, Text, Title } from '@mantine/core';
import { IconChartBar, IconTable } from '@tabler/icons-react';
import { Suspense, useState, type ReactNode } from 'react';

type Props = {
  title: string;
  /** The chart in a sentence. */
  text: string;
  columns: string[];
  rows: (string | number)[][];
  children: ReactNode;
};

const HEIGHT = 200;

export function ChartCard({ title, text, columns, rows, children }: Props) {
  const [isTable, setTable] = useState(false);
  const Icon = isTable ? IconChartBar : IconTable;
  return (
    <Card withBorder padding="md" component="section" aria-label={title}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Title order={2} size="h5">
          {title}
        </Title>
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          leftSection={<Icon size={14} />}
          onClick={() => setTable(!isTable)}
          aria-label={isTable ? `${title} as a chart` : `${title} as a table`}
        >
          {isTable ? 'Chart' : 'Table'}
        </Button>
      </Group>
      <Text size="xs" c="dimmed" mb="sm">
        {text}
      </Text>
      {isTable ? (
        <ScrollArea h={HEIGHT} type="auto" viewportProps={{ tabIndex: 0 }}>
          <Table stickyHeader verticalSpacing={3} fz="xs">
            <Table.Thead>
              <Table.Tr>
                {columns.map((column) => (
                  <Table.Th key={column}>{column}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((cells) => (
                <Table.Tr key={String(cells[0])}>
                  {cells.map((cell, at) => (
                    <Table.Td key={columns[at]}>{cell.toLocaleString('en')}</Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollArea>
      ) : (
        <Suspense fallback={<Skeleton h={HEIGHT} />}>{children}</Suspense>
      )}
    </Card>
  );
}
