/** The form of a credential. Secret values are dropped from memory as soon as they are stored. */
import { Anchor, Button, Collapse, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState, type FormEvent } from 'react';
import { schemas } from 'windlass:schemas';
import { isSender, NO_SENDER } from '../../api/sender.ts';
import { CREDENTIAL_DOCS } from '../docs/links.ts';
import { DocLink } from '../docs/DocLink.tsx';
import { CopyLine } from '../ui/copy.tsx';
import type { Field } from '../forms/fields.ts';
import { CREDENTIALS, SECRETS, type CredentialObject } from '../kube/resources.ts';
import { rightQuery } from '../kube/access.ts';
import { useTable } from '../kube/hooks.ts';
import { sessionQuery } from '../session/session.ts';
import { FailureNote } from '../ui/FailureNote.tsx';
import { notifySuccess } from '../ui/notify.tsx';
import tall from '../ui/tallDialog.module.css';
import { AccountFields, OneOfFields, type Typing } from './AccountFields.tsx';
import { builtAccount, entriesOf, type Entries, type SecretEntry } from './build.ts';
import type { Choice } from './choices.ts';
import { hostsProblem, withSuggestedHosts } from './hosts.ts';
import { layoutOf } from './layout.ts';
import { nameProblem, suggestedName } from './names.ts';
import { explainRefusal } from './refusal.ts';
import { createCredential, secretNameOf, updateCredential } from './save.ts';

type FormProps = {
  namespace: string;
  choice: Choice;
  /** The credential to change; undefined: a new one. */
  credential?: CredentialObject;
  /** The name that a workflow already uses for a new one. */
  wantedName?: string | undefined;
  onDone: (name: string) => void;
  onCancel: () => void;
  onBack?: () => void;
};

export function CredentialForm(props: FormProps) {
  const { choice, credential, onCancel, onBack } = props;
  const form = useCredentialForm(props);
  const { layout, entries, setFields, typing, name } = form;
  const nameField = useRef<HTMLInputElement>(null);
  // The choice of the kind, which had the focus, is gone, but not how far it was scrolled.
  useEffect(() => {
    nameField.current?.form?.scrollIntoView({ block: 'start' });
    nameField.current?.focus({ preventScroll: true });
  }, []);
  return (
    <form onSubmit={form.submit} autoComplete="off" noValidate>
      <Stack gap="sm">
        <Group justify="space-between" align="baseline" wrap="nowrap">
          <Text size="sm" fw={600}>
            {choice.label}
          </Text>
          {onBack && (
            <Anchor component="button" type="button" size="xs" flex="none" onClick={onBack}>
              Choose another kind
            </Anchor>
          )}
        </Group>
        <Text size="sm">{choice.sentence}</Text>
        <Text size="xs" c="dimmed">
          {choice.hint} <DocLink to={CREDENTIAL_DOCS[choice.kind]}>Documentation</DocLink>
        </Text>
        {choice.kind === 'oauth2' && <RedirectHint />}
        {credential === undefined && (
          <TextInput
            ref={nameField}
            label="Name"
            description="Workflows refer to it by this name. You cannot change it later."
            withAsterisk
            value={name}
            error={form.takenName ?? form.problems['']}
            onChange={(event) => form.setName(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
        )}
        <AccountFields
          fields={layout.first}
          path=""
          given={entries.fields}
          onChange={setFields}
          typing={typing}
        />
        {layout.options.length > 0 && (
          <OneOfFields options={layout.options} given={entries.fields} onChange={setFields} typing={typing} />
        )}
        <MoreFields fields={layout.more} given={entries.fields} onChange={setFields} typing={typing} />
        {credential !== undefined && (
          <Text size="xs" c="dimmed">
            Windlass checks the credential again after you save. Runners read a changed Secret within five
            minutes, or at once when a login is refused.
          </Text>
        )}
        {form.failure !== undefined && <FailureNote error={form.failure} />}
        <Group justify="flex-end" gap="xs" className={tall['footer'] ?? ''}>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={form.isBusy}>
            {credential === undefined ? 'Create' : 'Save'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

type MoreProps = {
  fields: readonly Field[];
  given: Record<string, unknown>;
  onChange: (given: Record<string, unknown>) => void;
  typing: Typing;
};

function MoreFields(props: MoreProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  if (props.fields.length === 0) return null;
  return (
    <>
      <Anchor
        component="button"
        type="button"
        size="xs"
        ta="left"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? 'Fewer fields' : 'More fields'}
      </Anchor>
      <Collapse expanded={isOpen} id={id}>
        <AccountFields path="" {...props} />
      </Collapse>
    </>
  );
}

function RedirectHint() {
  const { data: session } = useQuery(sessionQuery);
  const publicURL = session?.signedIn === true ? session.publicURL : null;
  if (publicURL === null)
    return (
      <Text size="xs" c="dimmed">
        This installation has no public URL, so you cannot connect accounts. Ask an administrator to set
        gateway.public.url in the chart.
      </Text>
    );
  return (
    <Text size="xs" c="dimmed" component="div">
      Register this redirect URI at the provider:
      <CopyLine text={`${publicURL}/oauth/callback`} what="redirect URI" />
      Then click <b>Connect</b> in the list of credentials, or at a node that uses this one.
    </Text>
  );
}

const WRITES = ['get', 'create', 'patch'] as const;

function useCredentialForm({
  namespace,
  choice,
  credential,
  wantedName,
  onDone,
}: Omit<FormProps, 'onCancel' | 'onBack'>) {
  const { data: table } = useTable(CREDENTIALS, namespace, { enabled: credential === undefined });
  const taken = new Set((table?.rows ?? []).map(({ metadata }) => metadata.name));
  const [typed, setName] = useState<string>();
  // Suggested again once the list of names is read, until somebody types one.
  const name = credential?.metadata.name ?? typed ?? suggestedName(choice.id, taken, wantedName);
  const [entries, setEntries] = useState<Entries>(() => startOf(choice, credential));
  const [problems, setProblems] = useState<Record<string, string>>({});
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const rights = useQueries({
    queries: WRITES.map((verb) => rightQuery({ verb, resource: SECRETS, namespace })),
  });
  // Until the rights are known, assume that the user may store Secrets, as most may.
  const mayStore = rights.every(({ data }) => data !== false);
  const [layout] = useState(() => layoutOf(schemas.credentials[choice.kind] ?? {}, choice));
  const build = (secretName: string) => builtAccount(layout.all, entries, secretName);

  const store = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      const at = { namespace, name };
      if (credential === undefined) await createCredential(at, choice.kind, build);
      else await updateCredential(credential, choice.kind, build);
      // The values are now in the Secret: keep no copy.
      setEntries({ fields: {}, secrets: {} });
      notifySuccess(credential === undefined ? `${CREDENTIALS.kind} "${name}" created` : 'Saved');
      onDone(name);
    } catch (error) {
      setFailure(explainRefusal(error, namespace));
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    const wrongName = credential === undefined ? nameProblem(name, taken) : undefined;
    const { account, problems: ofFields } = build(secretNameOf(name));
    const wrongHosts = hostsProblem(choice.kind, account);
    const { from } = account;
    const isWrongSender = choice.kind === 'smtp' && typeof from === 'string' && !isSender(from);
    const found = {
      ...ofFields,
      ...(isWrongSender && { from: `This ${NO_SENDER}` }),
      ...(wrongHosts !== undefined && { allowedHosts: wrongHosts }),
      ...(wrongName !== undefined && { '': wrongName }),
    };
    setProblems(found);
    if (Object.keys(found).length === 0) void store();
  };
  const typing: Typing = {
    secrets: entries.secrets,
    problems,
    mayStore,
    onSecret: (path, entry) =>
      setEntries((before) => ({ ...before, secrets: withEntry(before.secrets, path, entry) })),
  };
  return {
    name,
    // Not while it is stored: the list has it as soon as it exists.
    takenName: !isBusy && typed !== undefined && taken.has(typed) ? nameProblem(typed, taken) : undefined,
    setName: (text: string) => setName(text.toLowerCase().replace(/[^a-z0-9.-]+/g, '-')),
    entries,
    setFields: (fields: Record<string, unknown>) =>
      setEntries((before) => ({
        ...before,
        fields: withSuggestedHosts(choice.kind, before.fields, fields),
      })),
    layout,
    typing,
    problems,
    failure,
    isBusy,
    submit,
  };
}

function startOf(choice: Choice, credential: CredentialObject | undefined): Entries {
  if (credential === undefined) return { fields: choice.start, secrets: {} };
  return entriesOf(credential.spec[choice.kind] ?? {});
}

function withEntry(
  secrets: Record<string, SecretEntry>,
  path: string,
  entry: SecretEntry | undefined,
): Record<string, SecretEntry> {
  const { [path]: _before, ...others } = secrets;
  return entry === undefined ? others : { ...others, [path]: entry };
}
