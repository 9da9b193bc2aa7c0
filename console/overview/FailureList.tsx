/** What failed, by workflow and reason, with the newest run of each. */
import { Card, Table, Text, Title } from '@mantine/core';
import { TextLink } from '../ui/links.tsx';
import { Ago } from '../ui/Ago.tsx';
import { reasonWords } from '../workflows/items.ts';
import { detailOf, type Failures } from './statistics.ts';

/** More than these are for the page Runs. */
const SHOWN = 12;

type Props = { failures: Failures[]; project: string; titles: Map<string, string> };

export function FailureList({ failures, project, titles }: Props) {
  return (
    <Card withBorder padding="md" component="section" aria-label="Failures">
      <Title order={2} size="h5" mb="xs">
        Failures
      </Title>
      {failures.length === 0 ? (
        <Text size="sm" c="dimmed">
          No failed runs.
        </Text>
      ) : (
        <Table verticalSpacing={6} fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Workflow</Table.Th>
              <Table.Th>Error</Table.Th>
              <Table.Th ta="right">Runs</Table.Th>
              <Table.Th visibleFrom="xs">Last failure</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {failures.slice(0, SHOWN).map(({ workflow, cause, number, last }) => (
              <Table.Tr key={`${workflow} ${cause.reason} ${cause.node}`}>
                <Table.Td>
                  <TextLink to="/p/$project/workflows/$workflow" params={{ project, workflow }} size="sm">
                    {titles.get(workflow) ?? workflow}
                  </TextLink>
                </Table.Td>
                <Table.Td>
                  {reasonWords(cause.reason)}
                  {cause.node !== undefined && `, in ${cause.node}`}
                  {last.message !== undefined && (
                    <Text size="xs" c="dimmed" lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
                      {detailOf(last)}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td ta="right">{number.toLocaleString('en')}</Table.Td>
                <Table.Td visibleFrom="xs" style={{ whiteSpace: 'nowrap' }}>
                  <TextLink to="/p/$project/runs/$run" params={{ project, run: last.run }} size="sm">
                    <Ago time={new Date(last.acceptedAt).toISOString()} />
                  </TextLink>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {failures.length > SHOWN && (
        <TextLink to="/p/$project/runs" params={{ project }} size="sm" mt="xs">
          All runs
        </TextLink>
      )}
    </Card>
  );
}
