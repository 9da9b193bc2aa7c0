/**
 * Banners above the editor: who manages the workflow, who changed it, and which fields a manifest will
 * revert.
 */
import { Alert, Button, Code, Group, Text } from '@mantine/core';
import { IconGitBranch, IconInfoCircle, IconTrash, IconUsers } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useMay } from '../kube/access.ts';
import { WORKFLOWS } from '../kube/resources.ts';
import { sessionQuery, userNameOf } from '../session/session.ts';
import { copyText } from '../ui/copy.tsx';
import { managerOf, managerText, type Manager } from '../workflows/manager.ts';
import { manifestOf } from '../workflows/manifest.ts';
import { yamlText } from '../ui/yamlText.ts';
import { yamlOf } from './asYaml.ts';
import { settingLabel } from '../forms/fields.ts';
import { labelOf } from '../forms/labels.ts';
import { CompactBanner } from './CompactBanner.tsx';
import { DraftBanner } from './DraftBanner.tsx';
import { appliersOf, appliersWithoutEdges, whoChanged } from './model/owners.ts';
import { mergePatch } from '../kube/patch.ts';
import { patchOf } from './model/patch.ts';
import { SettingLink } from './dialogs/ProblemLink.tsx';
import { useEditor, type EditorState } from './store/store.ts';
import { notifySuccess } from '../ui/notify.tsx';

const EditCopyDialog = lazy(async () => ({
  default: (await import('./dialogs/EditCopyDialog.tsx')).EditCopyDialog,
}));

export function Banners() {
  const { workflow, theirs, compare, problems, isDeleted } = useEditor();
  const manager = managerOf(workflow.metadata);
  if (isDeleted) return <DeletedBanner />;
  return (
    <>
      {manager !== undefined && <ManagedBanner manager={manager} />}
      {theirs !== undefined && (
        <Alert color="orange" variant="light" radius={0} py={6} icon={<IconUsers size={16} />} role="status">
          <Group gap="sm" justify="space-between">
            <Text size="sm">
              {theirs.metadata.uid === workflow.metadata.uid
                ? `${whoChanged(theirs)} published another version of this workflow after this draft was begun.`
                : `This workflow was deleted, and ${whoChanged(theirs)} created another one of its name.`}
            </Text>
            <Button variant="light" color="orange" onClick={() => compare(true)}>
              Compare
            </Button>
          </Group>
        </Alert>
      )}
      <DraftBanner />
      {manager === undefined && <OwnersBanner />}
      {problems.workflow.length > 0 && (
        <Alert
          color="red"
          variant="light"
          radius={0}
          py={6}
          icon={<IconInfoCircle size={16} />}
          role="status"
        >
          {problems.workflow.map(({ field, message }) => (
            <Text key={`${field} ${message}`} size="sm">
              {field === '' ? message : `${settingLabel(field)}: ${message} `}
              <SettingLink setting={field}>Go to setting</SettingLink>
            </Text>
          ))}
        </Alert>
      )}
    </>
  );
}

/** Fields applied from a manifest: the next apply reverts changes made here. */
function OwnersBanner() {
  const { workflow, saved, draft } = useEditor();
  const [isDetailed, setDetailed] = useState(false);
  const refused = appliersWithoutEdges(workflow.metadata, saved.spec, draft.spec);
  const changed = Object.keys(mergePatch(saved.spec, draft.spec) ?? {});
  const fields = refused.length === 0 ? changed : changed.filter((field) => field !== 'nodes');
  const owned = fields.flatMap((field) => {
    const owners = appliersOf(workflow.metadata, ['spec', field]);
    return owners.length > 0 ? [{ field, owners }] : [];
  });
  if (owned.length === 0 && refused.length === 0) return null;
  const byOwners = Map.groupBy(owned, ({ owners }) => owners.join(' and '));
  const owners = [...new Set([...refused, ...owned.flatMap((each) => each.owners)])];
  return (
    <CompactBanner
      color="yellow"
      icon={<IconInfoCircle size={16} />}
      actions={
        <>
          <Button variant="default" onClick={() => void copyText(yamlOf({ workflow, draft }), 'manifest')}>
            Copy as YAML
          </Button>
          <Button variant="default" aria-expanded={isDetailed} onClick={() => setDetailed(!isDetailed)}>
            Details
          </Button>
        </>
      }
    >
      <Text size="sm">
        Change the manifest too: {listed(owners)} applied this workflow from a manifest, and the next apply
        reverts what you change only in the console.
      </Text>
      {isDetailed && refused.length > 0 && (
        <Text size="sm">
          The manifest has no <Code>spec.edges</Code>, which these connections need. The next apply keeps the
          connections, and fails if one leads to a node that the manifest lacks. Replace the manifest with the
          YAML of this workflow. To discard the connections instead, run <Code>kubectl replace</Code> with the
          manifest.
        </Text>
      )}
      {isDetailed &&
        [...byOwners].map(([names, fields]) => (
          <Text key={names} size="sm">
            From the manifest of {names}: {listed(fields.map(({ field }) => fieldName(field)))}.
          </Text>
        ))}
    </CompactBanner>
  );
}

/** The name of a member of the spec, as the console shows it. */
function fieldName(field: string): string {
  return field === 'edges' ? 'Connections' : labelOf(field);
}

const LIST = new Intl.ListFormat('en-GB');
const listed = (words: readonly string[]): string => LIST.format(words);

function ManagedBanner({ manager }: { manager: Manager }) {
  const { namespace, workflow, mode, setMode, isDirty, discard, undo, saveDraft, ...state } = useEditor();
  const [isCopying, setCopying] = useState(false);
  const mayCreate = useMay({ verb: 'create', resource: WORKFLOWS, namespace });
  const isTrial = mode === 'trial';
  const discardAll = (): void => {
    discard();
    setMode('read');
    void saveDraft();
    if (!isDirty) return;
    const again = (): void => {
      setMode('trial');
      undo();
    };
    notifySuccess('Changes discarded.', { text: 'Undo', onClick: again });
  };
  return (
    <CompactBanner
      color="blue"
      icon={<IconGitBranch size={16} />}
      actions={
        <>
          {isTrial && (
            <Button
              disabled={!isDirty}
              onClick={() => void copyText(patchText({ workflow, ...state }), 'patch')}
            >
              Copy as patch
            </Button>
          )}
          {/* One button, which thus keeps the focus. */}
          <Button variant="default" onClick={isTrial ? discardAll : () => setMode('trial')}>
            {isTrial ? 'Discard changes' : 'Try changes'}
          </Button>
          <Button variant="default" onClick={() => void copyText(yamlOf({ workflow, ...state }), 'manifest')}>
            Copy as YAML
          </Button>
          {mayCreate && (
            <Button variant="default" onClick={() => setCopying(true)}>
              Edit a copy
            </Button>
          )}
          {isCopying && (
            <Suspense>
              <EditCopyDialog onClose={() => setCopying(false)} />
            </Suspense>
          )}
        </>
      }
    >
      <Text size="sm">
        {!isTrial && 'Read-only: '}
        {managerText(manager)} manages this workflow and reverts changes that are published here.
        {isTrial && ' Test your changes, then copy them to where the workflow is managed.'}
      </Text>
    </CompactBanner>
  );
}

/** The changes as a merge patch that kustomize and `kubectl patch --type merge --patch-file` accept. */
function patchText({ workflow, draft, saved }: Pick<EditorState, 'workflow' | 'draft' | 'saved'>): string {
  const { apiVersion, kind, metadata } = manifestOf(workflow);
  const spec = patchOf(saved, draft)?.spec ?? {};
  return yamlText({ apiVersion, kind, metadata: { name: metadata.name }, spec });
}

/** The workflow was deleted. The canvas has the only copy, so it stays until the user decides. */
function DeletedBanner() {
  const state = useEditor();
  const { namespace, mode, isDirty, isPublishing, publish } = state;
  const mayCreate = useMay({ verb: 'create', resource: WORKFLOWS, namespace });
  const { data: session } = useQuery(sessionQuery);
  return (
    <Alert color="red" variant="light" radius={0} py={6} icon={<IconTrash size={16} />} role="alert">
      <Group gap="sm" justify="space-between">
        <Text size="sm" flex="1 1 300px">
          This workflow was deleted. What you see{isDirty ? ', including your changes,' : ''} now exists only
          on this page.
        </Text>
        <Group gap="xs">
          {mayCreate && mode === 'edit' && (
            <Button loading={isPublishing} onClick={() => void publish(userNameOf(session))}>
              Recreate as inactive
            </Button>
          )}
          <Button variant="default" onClick={() => void copyText(yamlOf(state), 'manifest')}>
            Copy as YAML
          </Button>
        </Group>
      </Group>
    </Alert>
  );
}
