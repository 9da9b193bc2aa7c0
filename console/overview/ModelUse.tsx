/** What the agents of each workflow used today, the most expensive and then the largest use first. */
import { Card, Table, Text, Title } from '@mantine/core';
import { TextLink } from '../ui/links.tsx';
import { count } from '../ui/format.ts';
import { costText } from '../ui/usage.ts';
import type { WorkflowItem } from '../workflows/items.ts';

const SHOWN = 12;

type Props = { items: WorkflowItem[]; project: string; date: string };

export function ModelUse({ items, project, date }: Props) {
  const used = items
    .flatMap(({ name, title, usage }) => (usage?.date === date ? [{ name, title, usage }] : []))
    .toSorted(
      (one, other) =>
        Number(other.usage.cost ?? 0) - Number(one.usage.cost ?? 0) || other.usage.tokens - one.usage.tokens,
    );
  if (used.length === 0) return null;
  return (
    <Card withBorder padding="md" component="section" aria-label="Model use today by workflow">
      <Title order={2} size="h5" mb="xs">
        Model use today by workflow
      </Title>
      <Table verticalSpacing={6} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Workflow</Table.Th>
            <Table.Th ta="right">Tokens</Table.Th>
            <Table.Th ta="right">Cost</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {used.slice(0, SHOWN).map(({ name, title, usage: { tokens, cost, currency = '' } }) => (
            <Table.Tr key={name}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <TextLink to="/p/$project/workflows/$workflow" params={{ project, workflow: name }} size="sm">
                  {title}
                </TextLink>
              </Table.Td>
              <Table.Td ta="right">{tokens.toLocaleString('en')}</Table.Td>
              <Table.Td ta="right">
                {cost === undefined ? 'no price' : `${costText(cost)} ${currency}`}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {used.length > SHOWN && (
        <Text size="xs" c="dimmed" mt={4}>
          and {count(used.length - SHOWN, 'more workflow')}
        </Text>
      )}
    </Card>
  );
}
