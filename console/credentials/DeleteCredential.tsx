/** Asks before a credential is deleted and lists the nodes that will stop working. */
import { Button, Group, List, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { deleteObject } from '../kube/objects.ts';
import { CREDENTIALS, type CredentialObject } from '../kube/resources.ts';
import { FailureNote } from '../ui/FailureNote.tsx';
import { notifySuccess } from '../ui/notify.tsx';
import { secretsNote } from './secretsNote.ts';
import type { Use } from './usage.ts';

type Props = {
  credential: CredentialObject;
  uses: readonly Use[] | null | undefined;
  onClose: () => void;
};

export function DeleteCredential({ credential, uses, onClose }: Props) {
  const { namespace = '', name } = credential.metadata;
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const remove = async (): Promise<void> => {
    setBusy(true);
    try {
      await deleteObject(CREDENTIALS, namespace, name);
      notifySuccess(`${name} deleted`);
      onClose();
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={`Delete the credential "${name}"?`}>
      <Stack gap="sm">
        <Consequences uses={uses} />
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {['This cannot be undone.', ...secretsNote(credential)].join(' ')}
        </Text>
        {failure !== undefined && <FailureNote error={failure} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button color="red" loading={isBusy} onClick={() => void remove()}>
            Delete
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function Consequences({ uses }: Pick<Props, 'uses'>) {
  if (uses === undefined || uses === null)
    return <Text size="sm">Workflows may use it. Nodes that use it will fail.</Text>;
  if (uses.length === 0) return <Text size="sm">No workflow uses it.</Text>;
  return (
    <>
      <Text size="sm">These nodes use it and will fail:</Text>
      <List size="sm">
        {uses.map(({ workflow, displayName, nodes, isDraft }) => (
          <List.Item key={workflow}>
            {displayName} ({isDraft && 'draft: '}
            {nodes.map(({ name }) => name).join(', ')})
          </List.Item>
        ))}
      </List>
    </>
  );
}
