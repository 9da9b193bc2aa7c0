/** The dialogs that create and change a credential. */
import { Modal, SimpleGrid, Text, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import type { CredentialObject } from '../kube/resources.ts';
import { choiceOf, choicesFor, type Choice } from './choices.ts';
import { useReturnFocus } from '../ui/useReturnFocus.ts';
import tall from '../ui/tallDialog.module.css';
import { CredentialForm } from './CredentialForm.tsx';
import classes from './credentials.module.css';

/** A click beside the dialog would lose the secrets that were typed. */
const DIALOG = {
  size: 'lg',
  classNames: { content: tall['content'] ?? '' },
  closeOnClickOutside: false,
} as const;

type DialogProps = {
  namespace: string;
  /** The kinds to offer; empty: all. */
  kinds: readonly string[];
  /** The name that a workflow already uses: suggested if no credential has it yet. */
  wantedName?: string | undefined;
  opened: boolean;
  onClose: () => void;
  onCreated: (name: string) => void;
};

/** Asks for the kind of credential, then for its account, and creates it. */
export function CredentialDialog(props: DialogProps) {
  const { namespace, kinds, wantedName, opened, onClose, onCreated } = props;
  return (
    <Modal opened={opened} onClose={onClose} title="New credential" {...DIALOG}>
      <NewCredential
        namespace={namespace}
        kinds={kinds}
        wantedName={wantedName}
        onCancel={onClose}
        onDone={(name) => {
          onCreated(name);
          onClose();
        }}
      />
    </Modal>
  );
}

type NewProps = Pick<DialogProps, 'namespace' | 'kinds' | 'wantedName'> & {
  onDone: (name: string) => void;
  onCancel: () => void;
};

function NewCredential({ namespace, kinds, wantedName, onDone, onCancel }: NewProps) {
  useReturnFocus();
  const choices = choicesFor(kinds);
  const [chosen, setChosen] = useState<Choice | undefined>(choices.length === 1 ? choices[0] : undefined);
  if (chosen === undefined) return <ChoiceGrid choices={choices} onChoose={setChosen} />;
  return (
    <CredentialForm
      namespace={namespace}
      choice={chosen}
      wantedName={wantedName}
      onDone={onDone}
      onCancel={onCancel}
      {...(choices.length > 1 && { onBack: () => setChosen(undefined) })}
    />
  );
}

function ChoiceGrid({
  choices,
  onChoose,
}: {
  choices: readonly Choice[];
  onChoose: (choice: Choice) => void;
}) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
      {choices.map((choice, at) => (
        <UnstyledButton
          key={choice.id}
          className={classes['choice'] ?? ''}
          onClick={() => onChoose(choice)}
          data-autofocus={at === 0 || undefined}
        >
          <Text size="sm" fw={600}>
            {choice.label}
          </Text>
          <Text size="xs" c="dimmed">
            {choice.sentence}
          </Text>
        </UnstyledButton>
      ))}
    </SimpleGrid>
  );
}

type EditProps = { credential: CredentialObject; kind: Choice['kind']; onClose: () => void };

export function CredentialEditDialog({ credential, kind, onClose }: EditProps) {
  useReturnFocus();
  const { namespace = '', name } = credential.metadata;
  const account = (credential.spec[kind] ?? {}) as Record<string, unknown>;
  return (
    <Modal opened onClose={onClose} title={`Edit the credential "${name}"`} {...DIALOG}>
      <CredentialForm
        namespace={namespace}
        choice={choiceOf(kind, account)}
        credential={credential}
        onDone={onClose}
        onCancel={onClose}
      />
    </Modal>
  );
}
