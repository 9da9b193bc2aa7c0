/** The dialogs of a workflow in the list: duplicate, rename, delete. */
import { Alert, Button, Code, Group, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode, type SyntheticEvent } from 'react';
import { deleteObject, getObject } from '../kube/objects.ts';
import { WORKFLOWS } from '../kube/resources.ts';
import { sessionQuery, userNameOf } from '../session/session.ts';
import { FailureNote } from '../ui/FailureNote.tsx';
import { notifySuccess } from '../ui/notify.tsx';
import { CopyDialog } from './CopyDialog.tsx';
import { consequencesOf, type RecordedRuns } from './consequences.ts';
import { exportYaml } from './exportYaml.ts';
import { copiedSpec, keptMarks } from './manifest.ts';
import { managerText, ownerOfField } from './manager.ts';
import type { WorkflowItem } from './items.ts';
import { LONGEST_DISPLAY_NAME } from './names.ts';
import { useFreshCounts } from './unfinishedRuns.ts';
import { patchUnversioned } from './unversioned.ts';

type Props = { item: WorkflowItem; project: string; onClose: () => void };

export function DuplicateDialog({ item, project, taken, onClose }: Props & { taken: ReadonlySet<string> }) {
  return (
    <CopyDialog
      project={project}
      taken={taken}
      title={`Duplicate "${item.title}"`}
      of={item.title}
      submit="Duplicate and open"
      copy={async ({ name, title }) => {
        const { metadata, spec } = await getObject(WORKFLOWS, project, item.name);
        return { name, marks: keptMarks(metadata), spec: copiedSpec(spec, title) };
      }}
      onClose={onClose}
    >
      The copy starts with the published version, without changes that only a draft has. It is inactive and
      has no runs.
    </CopyDialog>
  );
}

export function RenameDialog({ item, project, onClose }: Props) {
  const [title, setTitle] = useState(item.title);
  const { data: session } = useQuery(sessionQuery);
  const owner = ownerOfField(item.metadata, ['spec', 'displayName']);
  const rename = useMutation({
    mutationFn: () =>
      patchUnversioned(
        { namespace: project, name: item.name },
        { displayName: title.trim() === '' ? null : title.trim() },
        userNameOf(session),
      ),
    onSuccess: () => {
      notifySuccess('Renamed');
      onClose();
    },
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    rename.mutate();
  };
  return (
    <Modal opened onClose={onClose} title={`Rename "${item.title}"`}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Name"
            description={
              <>
                The display name. The ID <Code>{item.name}</Code> and its URLs do not change.
              </>
            }
            data-autofocus
            maxLength={LONGEST_DISPLAY_NAME}
            value={title}
            onChange={(event) => setTitle(event.currentTarget.value)}
          />
          {owner !== undefined && (
            <Alert color="yellow" variant="light">
              {managerText(owner)} manages the name and will revert it. Change it in the source of{' '}
              {owner.tool}.
            </Alert>
          )}
          {rename.error !== null && <FailureNote error={rename.error} />}
          <Buttons onClose={onClose}>
            <Button type="submit" loading={rename.isPending}>
              Rename
            </Button>
          </Buttons>
        </Stack>
      </form>
    </Modal>
  );
}

export function DeleteDialog(props: Props & { recorded?: RecordedRuns }) {
  const { project, recorded, onClose } = props;
  const item = useFreshCounts(project, props.item);
  const remove = useMutation({
    mutationFn: () => deleteObject(WORKFLOWS, project, item.name),
    onSuccess: () => {
      notifySuccess(`${item.title} deleted`);
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={`Delete "${item.title}"?`}>
      <Stack>
        <List size="sm" style={{ overflowWrap: 'anywhere' }}>
          {consequencesOf(item, recorded).map((sentence) => (
            <List.Item key={sentence}>{sentence}</List.Item>
          ))}
        </List>
        <Text size="sm">This cannot be undone. An export contains the workflow, but not its runs.</Text>
        {remove.error !== null && <FailureNote error={remove.error} />}
        <Group justify="space-between">
          <Button variant="subtle" onClick={() => exportYaml(project, item.name)}>
            Export YAML
          </Button>
          <Buttons onClose={onClose}>
            <Button color="red.9" loading={remove.isPending} onClick={() => remove.mutate()}>
              Delete
            </Button>
          </Buttons>
        </Group>
      </Stack>
    </Modal>
  );
}

function Buttons({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onClose}>
        Cancel
      </Button>
      {children}
    </Group>
  );
}
