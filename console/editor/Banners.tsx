/** What one has to know before one changes this workflow: who manages it, who changed it meanwhile, who would change it back. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { IconGitBranch, IconInfoCircle, IconUsers } from '@tabler/icons-react';
import { useState } from 'react';
import { useMay } from '../kube/access.ts';
import { WORKFLOWS } from '../kube/resources.ts';
import { copyText } from '../runs/copy.ts';
import { managerOf, managerText, type Manager } from '../workflows/manager.ts';
import { manifestOf } from '../workflows/manifest.ts';
import { yamlText } from '../yamlText.ts';
import { yamlOf } from './asYaml.ts';
import { CopyDialog } from './CopyDialog.tsx';
import { GoneBanner } from './GoneBanner.tsx';
import { appliersOf, appliersWithoutEdges, whoChanged } from './owners.ts';
import { mergePatch, patchOf } from './patch.ts';
import { useEditor, type EditorState } from './store.ts';
import classes from './editor.module.css';

export function Banners() {
  const { workflow, theirs, compare, problems, isGone } = useEditor();
  const manager = managerOf(workflow.metadata);
  if (isGone) return <GoneBanner />;
  return (
    <>
      {manager !== undefined && <ManagedBanner manager={manager} />}
      {theirs !== undefined && (
        <Alert color="orange" variant="light" radius={0} py={6} icon={<IconUsers size={16} />} role="status">
          <Group gap="sm" justify="space-between">
            <Text size="sm">
              {whoChanged(theirs)} saved another version of this workflow while you changed it.
            </Text>
            <Button variant="light" color="orange" onClick={() => compare(true)}>
              Compare
            </Button>
          </Group>
        </Alert>
      )}
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
          {problems.workflow.map(({ message }) => (
            <Text key={message} size="sm">
              {message}
            </Text>
          ))}
        </Alert>
      )}
    </>
  );
}

/** Fields that were applied from a manifest: the next time it is applied, what is changed here is gone. */
function OwnersBanner() {
  const { workflow, saved, draft } = useEditor();
  const refused = appliersWithoutEdges(workflow.metadata, saved.spec, draft.spec);
  const changed = Object.keys(mergePatch(saved.spec, draft.spec) ?? {});
  const fields = refused.length === 0 ? changed : changed.filter((field) => field !== 'nodes');
  const owned = fields.flatMap((field) => {
    const owners = appliersOf(workflow.metadata, ['spec', field]);
    return owners.length > 0 ? [{ field, owners }] : [];
  });
  if (owned.length === 0 && refused.length === 0) return null;
  return (
    <Alert color="yellow" variant="light" radius={0} py={6} icon={<IconInfoCircle size={16} />} role="status">
      {refused.length > 0 && (
        <Group gap="sm" justify="space-between">
          <Text size="sm" flex="1 1 320px">
            The manifest that {refused.join(' and ')} applied has no spec.edges, which these connections need.
            Its next apply keeps these edges, and is refused where they name a node that the manifest lacks.
            Replace the manifest with the YAML of this workflow, or run kubectl replace with the manifest to
            discard these connections.
          </Text>
          <Button
            variant="default"
            onClick={() => void copyText(yamlOf({ workflow, draft }), 'The manifest')}
          >
            Copy as YAML
          </Button>
        </Group>
      )}
      {owned.map(({ field, owners }) => (
        <Text key={field} size="sm">
          spec.{field} comes from a manifest that {owners.join(' and ')} applied: change it there, too, or the
          next apply changes it back.
        </Text>
      ))}
    </Alert>
  );
}

function ManagedBanner({ manager }: { manager: Manager }) {
  const { namespace, workflow, mode, setMode, isDirty, discard, ...state } = useEditor();
  const [isCopying, setCopying] = useState(false);
  const mayCreate = useMay({ verb: 'create', resource: WORKFLOWS, namespace });
  return (
    <Alert
      color="blue"
      variant="light"
      radius={0}
      py={6}
      icon={<IconGitBranch size={16} />}
      classNames={{ wrapper: classes['banner'] ?? '', icon: classes['bannerIcon'] ?? '' }}
      role="status"
    >
      <Group gap="sm" justify="space-between">
        <Text size="sm">
          {managerText(manager)} manages this workflow and would change back what is saved here.{' '}
          {mode === 'trial'
            ? 'Try your changes, then copy them to where it is managed.'
            : 'So it opens read-only.'}
        </Text>
        <Group gap="xs">
          {mode === 'trial' ? (
            <>
              <Button
                disabled={!isDirty}
                onClick={() => void copyText(patchText({ workflow, ...state }), 'The patch')}
              >
                Copy as patch
              </Button>
              <Button
                variant="default"
                onClick={() => {
                  discard();
                  setMode('read');
                }}
              >
                Drop the changes
              </Button>
            </>
          ) : (
            <Button variant="default" onClick={() => setMode('trial')}>
              Try changes
            </Button>
          )}
          <Button
            variant="default"
            onClick={() => void copyText(yamlOf({ workflow, ...state }), 'The manifest')}
          >
            Copy as YAML
          </Button>
          {mayCreate && (
            <Button variant="default" onClick={() => setCopying(true)}>
              Edit a copy
            </Button>
          )}
        </Group>
      </Group>
      {isCopying && <CopyDialog onClose={() => setCopying(false)} />}
    </Alert>
  );
}

/** The changes as a merge patch that names its object, as kustomize and `kubectl patch --type merge --patch-file` take it. */
function patchText({ workflow, draft, saved }: Pick<EditorState, 'workflow' | 'draft' | 'saved'>): string {
  const { apiVersion, kind, metadata } = manifestOf(workflow);
  const spec = patchOf(saved, draft)?.spec ?? {};
  return yamlText({ apiVersion, kind, metadata: { name: metadata.name }, spec });
}
