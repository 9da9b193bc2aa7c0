/** The settings of the workflow beside the canvas. They change the draft, as the forms of nodes do. */
import { CloseButton, Group, Stack, Text, Title } from '@mantine/core';
import { useEffect, useMemo, useRef, type RefObject } from 'react';
import { schemas } from 'windlass:schemas';
import { SETTINGS_NAME } from '../../../api/group.ts';
import { DocLink } from '../../docs/DocLink.tsx';
import { SchemaForm } from '../../forms/inputs/SchemaForm.tsx';
import { FormContext, type FormScope } from '../../forms/scope.ts';
import type { Values } from '../../forms/values.ts';
import { useMay } from '../../kube/access.ts';
import { useObject } from '../../kube/hooks.ts';
import { PROJECT_SETTINGS } from '../../kube/resources.ts';
import { isInDialog } from '../../ui/focus.ts';
import { afterLayout } from '../canvas/viewport.ts';
import { updateSettings } from '../model/model.ts';
import { useEditor } from '../store/store.ts';
import { LabelsField } from './LabelsField.tsx';
import classes from './settings.module.css';
import {
  settingChange,
  settingGroups,
  settingOf,
  settingProblems,
  settingValues,
  withDefaults,
  type SettingGroup,
} from './settings.ts';

const GROUPS = settingGroups(schemas.workflow);

type Opened = {
  /** The place in the spec whose input gets the focus, such as `history`; empty: none. */
  setting: string;
};
/** `at`: another object for each time that the settings are opened. */
type Props = { at: Opened; onClose: () => void };

export function SettingsPanel({ at, onClose }: Props) {
  const panel = useFocusAt(at);
  const scope = useScope();
  const groups = useGroups(scope.namespace);
  return (
    <div ref={panel} className={classes['panel'] ?? ''} tabIndex={-1}>
      <div className={classes['head'] ?? ''}>
        <Title order={2} size="h5">
          Workflow settings
        </Title>
        <CloseButton aria-label="Close" onClick={onClose} />
      </div>
      <FormContext value={scope}>
        <Stack gap="lg" px={16} pb={32}>
          <Text size="xs" c="dimmed">
            {scope.isReadOnly
              ? 'You cannot change these settings here.'
              : 'Except for the labels, they are part of the draft and take effect when you publish. An empty field has its default.'}
          </Text>
          {groups.map((group) => (
            <GroupForm key={group.title} group={group} />
          ))}
          <LabelsField />
        </Stack>
      </FormContext>
    </div>
  );
}

/** With the defaults of the project, for those who may see them. */
function useGroups(namespace: string): readonly SettingGroup[] {
  const at = { resource: PROJECT_SETTINGS, namespace };
  const mayRead = useMay({ verb: 'list', ...at }, { verb: 'watch', ...at });
  const options = { enabled: mayRead, mayBeMissing: true };
  const { data } = useObject(PROJECT_SETTINGS, namespace, SETTINGS_NAME, options);
  return useMemo(
    () => (data === undefined ? GROUPS : withDefaults(GROUPS, { ...data?.spec.workflowDefaults })),
    [data],
  );
}

function GroupForm({ group: { title, doc, fields } }: { group: SettingGroup }) {
  const { draft, apply } = useEditor();
  const values = settingValues(draft.spec, fields);
  const set = (next: Values): void => {
    const changed = fields.find(({ name }) => next[name] !== values[name])?.name;
    if (changed === undefined) return;
    apply((before) => updateSettings(before, settingChange(before.spec, changed, next[changed])), {
      key: `setting ${changed}`,
    });
  };
  return (
    <section aria-label={title}>
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h6">
          {title}
        </Title>
        <DocLink to={doc}>Docs</DocLink>
      </Group>
      <SchemaForm isFlat fields={fields} path="" values={values} onChange={set} />
    </section>
  );
}

function useScope(): FormScope {
  const { draft, namespace, name, isReadOnly, problems } = useEditor();
  return useMemo(
    () => ({
      namespace,
      workflow: name,
      isReadOnly,
      sources: { nodes: [] },
      problems: settingProblems(draft.spec, problems.workflow, GROUPS),
      showsAll: true,
      CredentialInput: NoCredential,
    }),
    [namespace, name, isReadOnly, draft.spec, problems.workflow],
  );
}

/** No setting is a credential. */
const NoCredential = (): null => null;

/**
 * Moves the focus to the input of the setting, or into the panel, unless a dialog has it. The dialog that led
 * here has returned the focus before.
 */
function useFocusAt(at: Opened): RefObject<HTMLDivElement | null> {
  const panel = useRef<HTMLDivElement>(null);
  useEffect(
    () =>
      afterLayout(() => {
        if (isInDialog(document.activeElement)) return;
        const name = at.setting === '' ? undefined : settingOf(at.setting, GROUPS);
        const input = inputOf(panel.current, name);
        if (input) input.focus();
        else panel.current?.focus({ preventScroll: true });
      }),
    [at],
  );
  return panel;
}

function inputOf(panel: HTMLElement | null, name: string | undefined): HTMLElement | null | undefined {
  if (name === undefined) return undefined;
  const field = panel?.querySelector(`[data-field="${CSS.escape(name)}"]`);
  return field?.querySelector<HTMLElement>('input:not([type=hidden]), textarea');
}
