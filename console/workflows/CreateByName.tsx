/** Creates a workflow from a name and a trigger. */
import '@mantine/core/styles/RadioCard.css';
import { Group, Radio, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import type { TriggerKind } from '../../api/triggerKinds.ts';
import { FailureNote } from '../ui/FailureNote.tsx';
import tall from '../ui/tallDialog.module.css';
import { credentialFor, startingSpec, type KnownCredential } from './create.ts';
import { CreateButtons, type Cancelling } from './CreateButtons.tsx';
import classes from './CreateDialog.module.css';
import { NameFields, useCreate, useNames, type TypedName } from './NameFields.tsx';
import { TRIGGER_ICONS } from './triggerIcons.ts';
import { kindsOfCredentials, TRIGGERS } from './triggers.ts';

type Props = Cancelling &
  TypedName &
  CardsProps & { project: string; taken: ReadonlySet<string>; credentials: KnownCredential[] };

export function CreateByName(props: Props) {
  const { project, taken, credentials, trigger, onTrigger, typedName, onTypedName, onCancel } = props;
  const create = useCreate(project);
  const names = useNames(taken, {
    displayName: typedName,
    created: create.created,
    onDisplayName: onTypedName,
  });
  const [spreadsheetId, setSpreadsheetId] = useState('');
  const [isTried, setTried] = useState(false);
  const lacksSheet = trigger === 'spreadsheet' && spreadsheetId.trim() === '';
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setTried(true);
    if (names.problem !== undefined || lacksSheet) return;
    const { name, displayName } = names;
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const beginning = { name, displayName: displayName.trim(), trigger, credentials, timeZone };
    create.mutate({ name, spec: startingSpec({ ...beginning, spreadsheetId: spreadsheetId.trim() }) });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <NameFields names={names} placeholder="For example: Order confirmation" showsProblem={isTried} />
        <TriggerCards trigger={trigger} onTrigger={onTrigger} />
        {trigger === 'spreadsheet' && (
          <TextInput
            label="Spreadsheet"
            description="Its URL, from the address bar of your browser, or its ID. An Excel workbook is a file in OneDrive."
            placeholder="https://docs.google.com/spreadsheets/d/…"
            value={spreadsheetId}
            onChange={(event) => setSpreadsheetId(event.currentTarget.value)}
            error={isTried && lacksSheet ? 'Paste the URL or the ID of the spreadsheet.' : undefined}
          />
        )}
        <AccountHint trigger={trigger} credentials={credentials} />
        {create.error !== null && <FailureNote error={create.error} />}
        <CreateButtons onCancel={onCancel} isPending={create.isPending} className={tall['footer'] ?? ''} />
      </Stack>
    </form>
  );
}

type CardsProps = { trigger: TriggerKind; onTrigger: (trigger: TriggerKind) => void };

function TriggerCards({ trigger, onTrigger }: CardsProps) {
  return (
    <Radio.Group label="Trigger" value={trigger} onChange={onTrigger} size="xs">
      <SimpleGrid cols={{ base: 1, xs: 2, sm: 3 }} spacing="xs" mt={6}>
        {TRIGGERS.map(({ kind, label, starts }) => {
          const Icon = TRIGGER_ICONS[kind];
          return (
            <Radio.Card
              key={kind}
              value={kind}
              className={classes['card'] ?? ''}
              aria-label={`${label}: ${starts}`}
            >
              <Group gap="sm" wrap="nowrap" align="flex-start">
                <Icon size={20} />
                <div>
                  <Text size="sm" fw={600}>
                    {label}
                  </Text>
                  <Text size="xs" c="dimmed">
                    {starts}
                  </Text>
                </div>
              </Group>
            </Radio.Card>
          );
        })}
      </SimpleGrid>
    </Radio.Group>
  );
}

function AccountHint({ trigger, credentials }: { trigger: TriggerKind; credentials: KnownCredential[] }) {
  const kinds = kindsOfCredentials(trigger);
  if (kinds.length === 0) return null;
  const found = credentialFor(kinds, credentials);
  return (
    <Text size="xs" c="dimmed" role="status">
      {found === undefined
        ? 'The project has no credential for it yet. Create one in the editor, at the trigger.'
        : `Uses the credential ${found}. You can choose another one in the editor.`}
    </Text>
  );
}
