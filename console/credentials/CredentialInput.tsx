/** Selects a credential of the fitting kinds, with its state, or creates and connects a new one. */
import { Badge, Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconPencil, IconPlus } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { credentialKindsText, NOT_CHOSEN } from './kindLabels.ts';
import { CheckPanel } from './CheckPanel.tsx';
import { ConnectButton } from './ConnectButton.tsx';
import { misfitText } from './fitText.ts';
import { messageBeside, needsConnecting, readyOf, type Condition } from './state.ts';
import { StateBadge } from './StateBadge.tsx';
import { useMay, useMissing } from '../kube/access.ts';
import { useObject, useTable } from '../kube/hooks.ts';
import type { CredentialKind } from '../../api/credential.ts';
import { CREDENTIALS, type CredentialObject } from '../kube/resources.ts';
import { textCell, type Row } from '../kube/table.ts';
import { useFormScope } from '../forms/scope.ts';
import { formText } from '../forms/values.ts';
import { OptionCheck } from '../ui/OptionCheck.tsx';
import { wrapperOf } from '../forms/inputs/PlainInputs.tsx';
import type { InputProps } from '../forms/props.ts';

const CredentialDialog = lazy(async () => ({
  default: (await import('./CredentialDialogs.tsx')).CredentialDialog,
}));

const CredentialEditDialog = lazy(async () => ({
  default: (await import('./CredentialDialogs.tsx')).CredentialEditDialog,
}));

export function CredentialInput(props: InputProps<'credential'>) {
  const { field, path, value, onChange, error, isReadOnly } = props;
  const { namespace } = useFormScope();
  const { kinds } = field.editor;
  const [isCreating, setCreating] = useState(false);
  const { data: table, isPending, error: listError } = useTable(CREDENTIALS, namespace);
  const mayCreate = useMay({ verb: 'create', resource: CREDENTIALS, namespace });
  const chosen = chosenOf(value);
  const told = useTold(path, chosen);
  const rows = (table?.rows ?? []).filter((row) => fits(row, kinds));
  const options = rows.map(({ metadata }) => metadata.name).toSorted();
  const forbidden = useForbidden(namespace, options, isReadOnly);
  const known = chosen === undefined || options.includes(chosen) ? options : [chosen, ...options];
  return (
    <Stack gap={6}>
      <Select
        {...wrapperOf(props)}
        data={known}
        value={chosen ?? null}
        placeholder={placeholderOf(isPending, known.length)}
        searchable={known.length > 8}
        clearable={!field.isRequired && !isReadOnly}
        nothingFoundMessage={`No credential yet for ${credentialKindsText(kinds)}.`}
        readOnly={isReadOnly}
        error={error ?? misfitText(chosen, kinds, listError === null ? table : undefined) ?? told}
        onChange={(name) => onChange(name ?? undefined)}
        renderOption={({ option, checked = false }) => (
          <Option
            isChosen={checked}
            row={rows.find(({ metadata }) => metadata.name === option.value)}
            name={option.value}
            isForbidden={forbidden.has(option.value)}
          />
        )}
      />
      {chosen !== undefined && <Chosen namespace={namespace} name={chosen} isReadOnly={isReadOnly} />}
      {mayCreate && !isReadOnly && (
        <Button
          variant="subtle"
          size="compact-xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => setCreating(true)}
          style={{ alignSelf: 'flex-start' }}
        >
          New credential…
        </Button>
      )}
      {isCreating && (
        <Suspense>
          <CredentialDialog
            namespace={namespace}
            kinds={kinds}
            wantedName={chosen}
            opened
            onClose={() => setCreating(false)}
            onCreated={(name) => {
              setCreating(false);
              onChange(name);
            }}
          />
        </Suspense>
      )}
    </Stack>
  );
}

/** Without the right to read the credential, what the workflow says of it is all there is. */
function useTold(path: string, chosen: string | undefined): string | undefined {
  const { namespace, problems } = useFormScope();
  const isChosen = chosen !== undefined;
  const { error } = useObject(CREDENTIALS, namespace, chosen ?? '', { enabled: isChosen });
  if (error === null || !isChosen) return undefined;
  const told = problems.find((each) => each.field === path && each.credential === chosen);
  return told && formText(told.message);
}

function chosenOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value !== NOT_CHOSEN ? value : undefined;
}

/** Credentials that the user may not use. Read-only forms do not ask. */
function useForbidden(
  namespace: string,
  names: string[],
  isReadOnly: boolean | undefined,
): ReadonlySet<string> {
  return useMissing({ verb: 'use', resource: CREDENTIALS, namespace }, isReadOnly ? [] : names);
}

/** A credential that the operator has not processed yet has no kind: it may be of any. */
function fits(row: Row, kinds: readonly string[]): boolean {
  const kind = textCell(row, 'Kind');
  return kind === undefined || kinds.includes(kind);
}

function placeholderOf(isPending: boolean, count: number): string {
  if (isPending) return 'Loading…';
  return count === 0 ? 'No credential yet' : 'Choose a credential';
}

type OptionProps = {
  isChosen: boolean;
  row: Row | undefined;
  name: string;
  /** Whether the user may not use it. A workflow that refers to it cannot be saved then. */
  isForbidden: boolean;
};

function Option({ isChosen, row, name, isForbidden }: OptionProps) {
  return (
    <Group gap={8} wrap="nowrap" w="100%">
      <OptionCheck isChosen={isChosen} />
      <Text size="xs" flex={1} truncate c={isForbidden ? 'dimmed' : undefined}>
        {name}
      </Text>
      {isForbidden && (
        <Badge size="xs" variant="light" color="gray">
          Not allowed to use
        </Badge>
      )}
      {!isForbidden && row && (
        <StateBadge ready={{ status: textCell(row, 'Ready'), reason: textCell(row, 'Reason') }} />
      )}
    </Group>
  );
}

type ChosenProps = { namespace: string; name: string; isReadOnly: boolean };

/** The state of the chosen credential, and how to fix it. */
function Chosen({ namespace, name, isReadOnly }: ChosenProps) {
  const { data: credential } = useObject(CREDENTIALS, namespace, name);
  const mayPatch = useMay({ verb: 'patch', resource: CREDENTIALS, namespace, name });
  const mayConnect = useMay({ verb: 'update', resource: CREDENTIALS, namespace, name });
  if (!credential) return null;
  const ready: Partial<Condition> = readyOf(credential.status) ?? {};
  const message = messageBeside(ready);
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <StateBadge ready={ready} />
        {credential.status?.account !== undefined && (
          <Text size="xs">Account: {credential.status.account}</Text>
        )}
      </Group>
      {message !== undefined && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {message}
        </Text>
      )}
      {credential.spec.oauth2 !== undefined && needsConnecting(ready) && mayConnect && !isReadOnly && (
        <ConnectButton credential={credential} />
      )}
      {mayPatch && !isReadOnly && (
        <CheckPanel credential={credential}>
          <EditButton credential={credential} />
        </CheckPanel>
      )}
    </Stack>
  );
}

/** Opens the form of the credential over the panel. */
function EditButton({ credential }: { credential: CredentialObject }) {
  const [isOpen, setOpen] = useState(false);
  const kind = Object.keys(credential.spec)[0] as CredentialKind | undefined;
  if (kind === undefined) return null;
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconPencil size={14} />}
        onClick={() => setOpen(true)}
        aria-label={`Edit the credential ${credential.metadata.name}`}
      >
        Edit
      </Button>
      {isOpen && (
        <Suspense>
          <CredentialEditDialog credential={credential} kind={kind} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
