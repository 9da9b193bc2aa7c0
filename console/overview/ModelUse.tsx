/** What the agents of each workflow used today. */
import { Card, Table, Text, Title } from '@mantine/core';
import { TextLink } from '../ui/links.tsx';
import { count } from '../ui/format.ts';
import { costText } from '../ui/usage.ts';
import { usedByWorkflow } from './modelUse.ts';
import type { DayUse } from './queries.ts';

const SHOWN = 12;

type Props = { use: DayUse; project: string; titles: ReadonlyMap<string, string> };

export function ModelUse({ use, project, titles }: Props) {
  const { used, rest } = usedByWorkflow(use);
  if (used.length === 0 && rest <= 0) return null;
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
          {used.slice(0, SHOWN).map(({ workflow: id, tokens, cost, currency = '' }) => {
            const workflow = id.slice(`${project}.`.length);
            return (
              <Table.Tr key={id}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  <TextLink to="/p/$project/workflows/$workflow" params={{ project, workflow }} size="sm">
                    {titles.get(workflow) ?? workflow}
                  </TextLink>
                </Table.Td>
                <Table.Td ta="right">{tokens.toLocaleString('en')}</Table.Td>
                <Table.Td ta="right">
                  {cost === undefined ? 'no price' : `${costText(cost)} ${currency}`}
                </Table.Td>
              </Table.Tr>
            );
          })}
          {rest > 0 && (
            <Table.Tr c="dimmed">
              <Table.Td>Other workflows</Table.Td>
              <Table.Td ta="right">{rest.toLocaleString('en')}</Table.Td>
              <Table.Td />
            </Table.Tr>
          )}
        </Table.Tbody>
      </Table>
      {used.length > SHOWN && (
        <Text size="xs" c="dimmed" mt={4}>
          and {count(used.length - SHOWN, 'more workflow')}
        </Text>
      )}
      <Text size="xs" c="dimmed" mt="xs">
        Since midnight UTC. Includes test runs and requests in progress.
        {rest > 0 && ' Other workflows were deleted, or are not served.'}
      </Text>
    </Card>
  );
}
