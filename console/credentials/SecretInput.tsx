/**
 * A secret value: typed and stored in a Secret, or a reference to an existing Secret. Stored values are never
 * shown: they can only be replaced.
 */
import { Anchor, Code, Group, Input, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Field } from '../forms/fields.ts';
import type { SecretEntry, SecretRef } from './build.ts';

type Props = {
  field: Field;
  entry: SecretEntry | undefined;
  problem: string | undefined;
  mayStore: boolean;
  onChange: (entry: SecretEntry | undefined) => void;
};

export function SecretInput({ field, entry, problem, mayStore, onChange }: Props) {
  const current: SecretEntry =
    entry ?? (mayStore ? { kind: 'value', value: '' } : { kind: 'existing', ref: { name: '', key: '' } });
  if (current.kind === 'stored')
    return <StoredSecret field={field} entry={current} mayStore={mayStore} onChange={onChange} />;
  if (current.kind === 'existing')
    return (
      <ExistingSecret
        field={field}
        secret={current.ref}
        problem={problem}
        {...(mayStore && { onTyping: () => onChange(undefined) })}
        onChange={onChange}
      />
    );
  return (
    <Stack gap={2}>
      <PasswordInput
        label={field.label}
        description="Stored in a Secret and never shown again."
        withAsterisk={field.isRequired}
        error={problem}
        value={current.value}
        onChange={(event) => onChange({ kind: 'value', value: event.currentTarget.value })}
        size="xs"
        autoComplete="new-password"
        spellCheck={false}
        data-1p-ignore
      />
      <Switch text="Use an existing Secret" onClick={() => onChange(emptyRef)} />
    </Stack>
  );
}

const emptyRef: SecretEntry = { kind: 'existing', ref: { name: '', key: '' } };

type ExistingProps = {
  field: Field;
  /** Not `ref`: React reserves that name. */
  secret: SecretRef;
  problem: string | undefined;
  onTyping?: () => void;
  onChange: Props['onChange'];
};

function ExistingSecret({ field, secret, problem, onTyping, onChange }: ExistingProps) {
  const set = (change: Partial<SecretRef>) => onChange({ kind: 'existing', ref: { ...secret, ...change } });
  return (
    <Stack gap={2}>
      <Group grow align="flex-start" gap="xs">
        <TextInput
          label={`${field.label}: Secret`}
          description="Name"
          withAsterisk={field.isRequired}
          error={problem}
          value={secret.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          autoComplete="off"
          spellCheck={false}
        />
        <TextInput
          label="Key"
          description="Key in the Secret"
          withAsterisk={field.isRequired}
          value={secret.key}
          onChange={(event) => set({ key: event.currentTarget.value })}
          autoComplete="off"
          spellCheck={false}
        />
      </Group>
      {onTyping && <Switch text="Enter a value instead" onClick={onTyping} />}
    </Stack>
  );
}

type StoredProps = {
  field: Field;
  entry: Extract<SecretEntry, { kind: 'stored' }>;
  mayStore: boolean;
  onChange: Props['onChange'];
};

function StoredSecret({ field, entry, mayStore, onChange }: StoredProps) {
  const [isReplacing, setReplacing] = useState(false);
  const { name, key } = entry.ref;
  return (
    <Stack gap={2}>
      {isReplacing ? (
        <PasswordInput
          label={`New ${field.label.toLowerCase()}`}
          description={
            <>
              Replaces the key <Code fz="xs">{key}</Code> of the Secret <Code fz="xs">{name}</Code>. Leave
              empty to keep the current value.
            </>
          }
          value={entry.value}
          onChange={(event) => onChange({ ...entry, value: event.currentTarget.value })}
          size="xs"
          autoComplete="new-password"
          spellCheck={false}
          data-1p-ignore
          autoFocus
        />
      ) : (
        // Spaced as the fields above it.
        <Input.Wrapper
          size="xs"
          label={field.label}
          labelElement="div"
          description={
            <>
              Stored in the Secret <Code fz="xs">{name}</Code>, key <Code fz="xs">{key}</Code>. The value is
              not shown.
            </>
          }
        />
      )}
      <Group gap="md">
        {mayStore && !isReplacing && <Switch text="Replace the value" onClick={() => setReplacing(true)} />}
        {isReplacing && (
          <Switch
            text="Keep the current value"
            onClick={() => {
              setReplacing(false);
              onChange({ ...entry, value: '' });
            }}
          />
        )}
        <Switch
          text="Use another Secret"
          onClick={() => onChange({ kind: 'existing', ref: { name, key } })}
        />
      </Group>
    </Stack>
  );
}

function Switch({ text, onClick }: { text: string; onClick: () => void }) {
  return (
    <Anchor component="button" type="button" size="xs" ta="left" onClick={onClick}>
      {text}
    </Anchor>
  );
}
