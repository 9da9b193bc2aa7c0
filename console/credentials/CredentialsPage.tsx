/** The credentials of a project, live, with their usage and how to fix those that do not work. */
import { Button, Container, Group, Skeleton, Text, TextInput, Title } from '@mantine/core';
import { IconKey, IconPlus, IconSearch } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { rightQuery, useMay } from '../kube/access.ts';
import { useTable, type LiveTable } from '../kube/hooks.ts';
import { CREDENTIALS, DRAFTS } from '../kube/resources.ts';
import { textCell } from '../kube/table.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { FailureNote } from '../ui/FailureNote.tsx';
import { TextLink } from '../ui/links.tsx';
import { useNewInAddress } from '../ui/useNewInAddress.ts';
import { CredentialDialog } from './CredentialDialogs.tsx';
import { CredentialTable } from './CredentialTable.tsx';
import { readUsage, type Usage } from './usage.ts';

export function CredentialsPage() {
  const { project = '' } = useParams({ strict: false });
  const table = useTable(CREDENTIALS, project);
  const client = useQueryClient();
  const usage = useQuery({
    queryKey: ['credentialUsage', project],
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const right = rightQuery({ verb: 'list', resource: DRAFTS, namespace: project });
      return readUsage(project, { signal, mayReadDrafts: await client.fetchQuery(right) });
    },
  });
  const mayCreate = useMay({ verb: 'create', resource: CREDENTIALS, namespace: project });
  const [isCreating, setCreating] = useState(false);
  const { credential } = useSearch({ from: '/p/$project/credentials' });
  const [isNew, setNew] = useState<string>();
  useNewInAddress('/p/$project/credentials', mayCreate, () => setCreating(true));
  const button = mayCreate ? (
    <Button leftSection={<IconPlus size={14} />} onClick={() => setCreating(true)}>
      New credential
    </Button>
  ) : null;
  return (
    <Container fluid py="md" w="100%">
      <BackLink project={project} />
      <Group justify="space-between" mb="md">
        <Title order={1} size="h3">
          Credentials
        </Title>
        {table.data !== undefined && table.data.rows.length > 0 && button}
      </Group>
      {table.data === undefined ? (
        table.error === null ? (
          <Loading />
        ) : (
          <FailureNote error={table.error} onRetry={() => void table.refetch()} />
        )
      ) : (
        <Listed
          project={project}
          table={table.data}
          usage={usage.data}
          open={isNew ?? credential}
          button={button}
        />
      )}
      <CredentialDialog
        namespace={project}
        kinds={[]}
        opened={isCreating}
        onClose={() => setCreating(false)}
        onCreated={setNew}
      />
    </Container>
  );
}

/** Back to the failure that led here. */
function BackLink({ project }: { project: string }) {
  const { run, workflow, overview } = useSearch({ from: '/p/$project/credentials' });
  if (run !== undefined)
    return (
      <TextLink
        to="/p/$project/runs/$run"
        params={{ project, run }}
        search={workflow === undefined ? {} : { workflow }}
        size="sm"
        style={{ overflowWrap: 'anywhere' }}
      >
        Back to run {run}
      </TextLink>
    );
  if (overview !== true) return null;
  return (
    <TextLink to="/p/$project/overview" params={{ project }} size="sm">
      Back to the overview
    </TextLink>
  );
}

function Loading() {
  return (
    <div aria-busy>
      <Skeleton h={32} mb="xs" />
      <Skeleton h={32} mb="xs" />
      <Skeleton h={32} />
    </div>
  );
}

type ListedProps = {
  project: string;
  table: LiveTable;
  usage: Usage | null | undefined;
  /** The credential that was just created. */
  open: string | undefined;
  button: React.ReactNode;
};

function Listed({ project, table, usage, open, button }: ListedProps) {
  const [text, setText] = useState('');
  if (table.rows.length === 0)
    return (
      <EmptyState icon={IconKey} title="No credentials yet" actions={button}>
        Credentials let workflows sign in to services: a language model, a mail server, a Google account, an
        API. Their values are stored in Secrets of the project and are never shown here.
      </EmptyState>
    );
  const wanted = text.trim().toLowerCase();
  const rows = table.rows
    .filter((row) =>
      [row.metadata.name, textCell(row, 'Kind') ?? '', textCell(row, 'Account') ?? ''].some((cell) =>
        cell.toLowerCase().includes(wanted),
      ),
    )
    .toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name));
  return (
    <>
      {table.rows.length > 8 && (
        <TextInput
          aria-label="Search credentials"
          placeholder="Search by name, kind or account"
          leftSection={<IconSearch size={14} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          maw={320}
          mb="sm"
        />
      )}
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          No credentials match your search.
        </Text>
      ) : (
        <CredentialTable project={project} rows={rows} usage={usage} open={open} />
      )}
    </>
  );
}
