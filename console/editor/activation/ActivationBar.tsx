/** The toggle that activates the workflow, with its progress, and the panel of the trigger. */
import {
  Button,
  Group,
  Loader,
  Modal,
  Popover,
  ScrollArea,
  Stack,
  Switch,
  Text,
  Tooltip,
  VisuallyHidden,
} from '@mantine/core';
import {
  IconAlertTriangle,
  IconBolt,
  IconBoltOff,
  IconChevronDown,
  IconPlayerPause,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { PUBLIC } from '../../../api/access.ts';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { useMay } from '../../kube/access.ts';
import { WORKFLOWS, type WorkflowObject } from '../../kube/resources.ts';
import { notifyFailure, notifySuccess } from '../../ui/notify.tsx';
import { sessionQuery, userNameOf } from '../../session/session.ts';
import { patchUnversioned } from '../../workflows/unversioned.ts';
import { useOfferedAction } from '../../ui/offered.ts';
import { managerText, ownerOfField } from '../../workflows/manager.ts';
import { isTrigger, kindLabel, nodeKind } from '../../workflows/kinds.ts';
import { COMPACT } from '../../ui/compact.ts';
import classes from './activation.module.css';
import { useEditorPart, useEditorStore } from '../store/store.ts';
import { activationOf, type Activation } from './activation.ts';
import { ActivationProgress } from './ActivationProgress.tsx';
import { suspendable, Suspension, useResume } from './Suspension.tsx';
import { TriggerPanel } from './TriggerPanel.tsx';
import { usePublicationNotice } from './usePublicationNotice.tsx';

const SuspendDialog = lazy(async () => ({
  default: (await import('../../workflows/SuspendDialogs.tsx')).SuspendDialog,
}));

export function ActivationBar() {
  // Also while the draft is in conflict with it.
  const workflow = useEditorPart(({ workflow: base, theirs }) => theirs ?? base);
  const [isOpen, setOpen] = useState(false);
  const [isSuspending, setSuspending] = useState(false);
  const askToSuspend = (): void => {
    setOpen(false);
    setSuspending(true);
  };
  useSuspensionActions(workflow, askToSuspend);
  usePublicationNotice(workflow, () => setOpen(true));
  const activation = activationOf(workflow);
  const kind = triggerKind(workflow.spec.nodes);
  const triggerWord = kind === undefined ? activation.word : kindLabel(kind);
  const isPublic = activation.kind === 'on' && workflow.status?.access === PUBLIC;
  // The toggle itself shows the rest.
  const isSettled = activation.kind === 'on' || activation.kind === 'off';
  return (
    <Group gap={6} wrap="nowrap">
      <Popover
        opened={isOpen}
        onChange={setOpen}
        position="bottom-end"
        width={460}
        trapFocus
        shadow="md"
        withinPortal
      >
        <Popover.Target>
          <Button
            variant="subtle"
            color={COLORS[activation.kind] ?? 'gray'}
            px={6}
            {...(isSettled && !isPublic && { classNames: { section: COMPACT.section } })}
            leftSection={<ActivationIcon kind={activation.kind} />}
            rightSection={<IconChevronDown size={12} />}
            onClick={() => setOpen(!isOpen)}
            aria-expanded={isOpen}
            aria-label={`${triggerWord}${isPublic ? ` · ${PUBLIC}` : ''}: ${activation.word}`}
          >
            <ActivationWord
              activation={activation}
              triggerWord={triggerWord}
              isSettled={isSettled}
              isPublic={isPublic}
            />
          </Button>
        </Popover.Target>
        <Popover.Dropdown maw="96vw" p={0}>
          <ScrollArea.Autosize mah="70vh">
            <Stack gap="sm" p="md">
              <ActivationProgress workflow={workflow} hasWord />
              <TriggerAndSuspension workflow={workflow} onSuspend={askToSuspend} />
            </Stack>
          </ScrollArea.Autosize>
        </Popover.Dropdown>
      </Popover>
      <ActiveToggle onActivated={() => setOpen(true)} />
      {isSuspending && <AskToSuspend onClose={() => setSuspending(false)} />}
    </Group>
  );
}

type WordProps = { activation: Activation; triggerWord: string; isSettled: boolean; isPublic: boolean };

function ActivationWord({ activation: { kind, word }, triggerWord, isSettled, isPublic }: WordProps) {
  // Beside the name of the workflow stands what needs attention, and its name needs the room.
  const isStuck = kind === 'stuck';
  const showsTrigger = isSettled || isStuck;
  return (
    <span role="status">
      {isStuck && <VisuallyHidden>{word}</VisuallyHidden>}
      <span className={showsTrigger ? (classes['word'] ?? '') : ''}>
        {showsTrigger ? triggerWord : word}
        {isPublic && ' · '}
      </span>
      {isPublic && PUBLIC}
    </span>
  );
}

/** What the panel of the trigger has as a button. */
function useSuspensionActions({ spec, metadata }: WorkflowObject, askToSuspend: () => void): void {
  const { namespace = '', name } = metadata;
  const mayPatch = useMay({ verb: 'patch', resource: WORKFLOWS, namespace, name });
  const { isBusy, resume } = useResume();
  const suspended = spec.suspend === true;
  useOfferedAction('Suspend', mayPatch && !suspended ? askToSuspend : undefined);
  useOfferedAction('Resume', mayPatch && suspended && !isBusy ? () => void resume() : undefined);
}

type TriggerProps = { workflow: WorkflowObject; onSuspend: () => void };

/** That runs wait comes first; the button that would make them wait comes last. */
function TriggerAndSuspension({ workflow, onSuspend }: TriggerProps) {
  const trigger = <TriggerPanel workflow={workflow} />;
  const suspension = <Suspension onSuspend={onSuspend} />;
  return workflow.spec.suspend === true ? (
    <>
      {suspension}
      {trigger}
    </>
  ) : (
    <>
      {trigger}
      {suspension}
    </>
  );
}

function AskToSuspend({ onClose }: { onClose: () => void }) {
  const store = useEditorStore();
  const { namespace, workflow } = useEditorPart((state) => state);
  return (
    <Suspense>
      <SuspendDialog
        item={suspendable(workflow)}
        project={namespace}
        onClose={onClose}
        onStored={(stored) => store.update(stored)}
      />
    </Suspense>
  );
}

const COLORS: Partial<Record<Activation['kind'], string>> = { stuck: 'red', behind: 'orange' };

function ActivationIcon({ kind }: { kind: Activation['kind'] }) {
  if (kind === 'settling') return <Loader size={14} color="gray" />;
  if (kind === 'suspended') return <IconPlayerPause size={14} />;
  if (kind === 'stuck' || kind === 'behind') return <IconAlertTriangle size={14} />;
  return kind === 'on' ? <IconBolt size={14} /> : <IconBoltOff size={14} />;
}

function triggerKind(nodes: readonly WorkflowNode[]) {
  const trigger = nodes.find(isTrigger);
  return trigger && nodeKind(trigger);
}

function ActiveToggle({ onActivated }: { onActivated: () => void }) {
  const store = useEditorStore();
  const { namespace, name, workflow, mode, isDirty } = useEditorPart((state) => state);
  const mayPatch = useMay({ verb: 'patch', resource: WORKFLOWS, namespace, name });
  const { data: session } = useQuery(sessionQuery);
  const [wanted, setWanted] = useState<boolean>();
  const [isAsking, setAsking] = useState(false);
  const owner = ownerOfField(workflow.metadata, ['spec', 'active']);
  const { active } = workflow.spec;
  const change = async (next: boolean): Promise<void> => {
    setWanted(next);
    try {
      store.update(await patchUnversioned({ namespace, name }, { active: next }, userNameOf(session)));
      if (next) onActivated();
      else notifySuccess('Deactivated. Events no longer start runs.');
    } catch (error) {
      notifyFailure(`Could not ${next ? 'activate' : 'deactivate'} the workflow`, error);
    } finally {
      setWanted(undefined);
    }
  };
  const isManaged = owner !== undefined;
  const ask = (next: boolean): void => {
    if (isManaged || wanted !== undefined) return;
    if (next && isDirty && mode === 'edit') setAsking(true);
    else void change(next);
  };
  const isOffered = mayPatch && !isManaged && wanted === undefined;
  useOfferedAction('Activate', isOffered && !active ? () => ask(true) : undefined);
  useOfferedAction('Deactivate', isOffered && active ? () => ask(false) : undefined);
  if (!mayPatch) return null;
  return (
    <>
      <Tooltip
        label={owner && `${managerText(owner)} manages this. Change it in the source of ${owner.tool}.`}
        disabled={!isManaged}
        multiline
        maw={320}
        refProp="rootRef"
        events={{ hover: true, focus: true, touch: true }}
      >
        <Switch
          size="sm"
          label="Active"
          classNames={{ labelWrapper: classes['label'] ?? '' }}
          checked={wanted ?? active}
          aria-busy={wanted !== undefined}
          {...(isManaged && { 'aria-disabled': true, readOnly: true, opacity: 0.55 })}
          onChange={({ currentTarget: { checked } }) => ask(checked)}
        />
      </Tooltip>
      {isAsking && (
        <PublishFirst
          onClose={() => setAsking(false)}
          onAnswer={async (publishes) => {
            setAsking(false);
            if (!publishes || (await store.publish())) await change(true);
          }}
        />
      )}
    </>
  );
}

type Props = {
  onClose: () => void;
  onAnswer: (publishes: boolean) => Promise<void>;
};

/** Asks whether to publish changes before a workflow is activated: only published changes run. */
function PublishFirst({ onClose, onAnswer }: Props) {
  return (
    <Modal opened onClose={onClose} title="Unpublished changes">
      <Text size="sm" mb="md">
        Only published changes run. Publish them before you activate the workflow?
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button variant="default" onClick={() => void onAnswer(false)}>
          Activate without publishing
        </Button>
        <Button data-autofocus onClick={() => void onAnswer(true)}>
          Publish and activate
        </Button>
      </Group>
    </Modal>
  );
}
