/** The rows of the list of credentials. Each expands to its details and actions. */
import { ActionIcon, Table, Text, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { Fragment, useEffect, useState } from 'react';
import { textCell, type Row } from '../kube/table.ts';
import { ago, fullTime } from '../ui/format.ts';
import { credentialKindLabel } from './kindLabels.ts';
import { withoutCommand } from './commandText.ts';
import { withoutRequest } from './connectText.ts';
import { CredentialDetails } from './CredentialDetails.tsx';
import { StateBadge } from './StateBadge.tsx';
import { credentialState, type ReadyCondition } from './state.ts';
import { usesText, type Usage } from './usage.ts';
import classes from './credentials.module.css';

type Props = {
  project: string;
  rows: readonly Row[];
  /** Null if the user may not read workflows. */
  usage: Usage | null | undefined;
  /** The row that is expanded initially. */
  open: string | undefined;
};

const COLUMNS = 6;

export function CredentialTable({ project, rows, usage, open }: Props) {
  const [shown, setShown] = useState<string | undefined>(open);
  useEffect(() => {
    if (open !== undefined) setShown(open);
  }, [open]);
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table verticalSpacing={6} highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={34}>
              <VisuallyHidden>Details</VisuallyHidden>
            </Table.Th>
            <Table.Th w={{ base: 130, sm: 240 }}>Name</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th w={190} visibleFrom="sm">
              Account
            </Table.Th>
            <Table.Th w={120} visibleFrom="md">
              Expires
            </Table.Th>
            <Table.Th w={120} visibleFrom="sm">
              Used by
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => {
            const { name } = row.metadata;
            const isOpen = shown === name;
            return (
              <Fragment key={row.metadata.uid ?? name}>
                <CredentialRow
                  row={row}
                  usage={usage}
                  isOpen={isOpen}
                  onToggle={() => setShown(isOpen ? undefined : name)}
                />
                {isOpen && (
                  <Table.Tr className={classes['details'] ?? ''}>
                    <Table.Td colSpan={COLUMNS}>
                      <CredentialDetails
                        project={project}
                        name={name}
                        uses={usage && (usage.get(name) ?? [])}
                      />
                    </Table.Td>
                  </Table.Tr>
                )}
              </Fragment>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

type RowProps = { row: Row; usage: Props['usage']; isOpen: boolean; onToggle: () => void };

function CredentialRow({ row, usage, isOpen, onToggle }: RowProps) {
  const { name } = row.metadata;
  const ready = { status: textCell(row, 'Ready'), reason: textCell(row, 'Reason') };
  return (
    <Table.Tr>
      <Table.Td>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          onClick={onToggle}
          aria-expanded={isOpen}
          aria-label={isOpen ? `Close ${name}` : `Open ${name}`}
        >
          {isOpen ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
        </ActionIcon>
      </Table.Td>
      <Table.Td>
        <UnstyledButton onClick={onToggle} tabIndex={-1}>
          <Text size="sm" fw={600} className={classes['wrap'] ?? ''}>
            {name}
          </Text>
          <Text size="xs" c="dimmed">
            {credentialKindLabel(textCell(row, 'Kind'))}
          </Text>
        </UnstyledButton>
      </Table.Td>
      <Table.Td>
        <StateBadge ready={ready} />
        {!isOpen && <ErrorText ready={ready} message={messageIn(row)} />}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Text size="sm" className={classes['wrap'] ?? ''}>
          {textCell(row, 'Account') ?? '—'}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="md">
        <Expiry expires={textCell(row, 'Expires')} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Text size="sm">{usageText(usage, name)}</Text>
      </Table.Td>
    </Table.Tr>
  );
}

function messageIn(row: Row): string | undefined {
  const message = textCell(row, 'Message');
  return message && withoutRequest(message);
}

/** The problem in short. The details have the command that mends it. */
function ErrorText({ ready, message }: { ready: ReadyCondition; message: string | undefined }) {
  const { tone } = credentialState(ready);
  if ((tone !== 'bad' && tone !== 'warning') || message === undefined) return null;
  return (
    <Text size="xs" c="dimmed" mt={2} lineClamp={2} maw={560} title={message}>
      {withoutCommand(message).text}
    </Text>
  );
}

function Expiry({ expires }: { expires: string | undefined }) {
  if (expires === undefined) return <Text size="sm">—</Text>;
  return (
    <Text size="sm" title={fullTime(expires)}>
      {ago(expires, Date.now())}
    </Text>
  );
}

function usageText(usage: Props['usage'], name: string): string {
  if (usage === undefined) return '…';
  if (usage === null) return '—';
  return usesText(usage.get(name) ?? []);
}
