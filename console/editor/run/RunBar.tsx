/**
 * The run controls of the header: the history of runs, the versions, and the button that starts a test run
 * (Ctrl+Enter).
 */
import { Button, Group, Tooltip } from '@mantine/core';
import { IconHistory, IconListCheck, IconPlayerPlay } from '@tabler/icons-react';
import { useMay } from '../../kube/access.ts';
import { REVISIONS, WORKFLOWS } from '../../kube/resources.ts';
import { MemoryButton } from '../../memory/MemoryButton.tsx';
import { useOfferedAction } from '../../ui/offered.ts';
import { usePageKey } from '../../ui/usePageKey.ts';
import { useEditorPart } from '../store/store.ts';
import { TestDialog } from './TestDialog.tsx';
import { closeTestDialog, openTestDialog, useTestRunRequest } from '../../runs/live/runRequests.ts';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, useEffect, useState } from 'react';
import { COMPACT } from '../../ui/compact.ts';
import { DrawerButton } from '../../ui/SideDrawer.tsx';

export function RunBar() {
  const namespace = useEditorPart((state) => state.namespace);
  const name = useEditorPart((state) => state.name);
  const remembers = useEditorPart((state) => state.workflow.spec.nodes.some((node) => node.agent?.memory));
  const suspended = useEditorPart((state) => state.workflow.spec.suspend === true);
  const asked = useTestRunRequest();
  // Otherwise the dialog would be open in the next editor, where Enter would run another workflow.
  useEffect(() => closeTestDialog, []);
  const mayTest = useMay({
    verb: 'create',
    resource: WORKFLOWS,
    subresource: 'execute',
    namespace,
    name,
  });
  const test = mayTest && !suspended ? () => openTestDialog() : undefined;
  useOfferedAction('Test run', test);
  const testByKey = (): void => {
    if (asked === undefined) test?.();
  };
  usePageKey('mod+Enter', testByKey, { whileTyping: true });
  const hint = suspended
    ? 'Suspended: resume the workflow to run it'
    : 'Run the workflow with test data (Ctrl+Enter)';
  return (
    <Group gap="xs" wrap="nowrap">
      {remembers && <MemoryButton at={{ namespace, workflow: name }} />}
      <RunHistory namespace={namespace} workflow={name} />
      <VersionsButton />
      {mayTest && (
        <Tooltip label={hint}>
          <Button
            variant="light"
            leftSection={<IconPlayerPlay size={14} />}
            onClick={test}
            {...(suspended && { 'data-disabled': true, 'aria-disabled': true })}
            aria-keyshortcuts="Control+Enter"
            aria-label="Test run"
            classNames={COMPACT}
          >
            Test run
          </Button>
        </Tooltip>
      )}
      {mayTest && asked !== undefined && <TestDialog request={asked} />}
    </Group>
  );
}

const Versions = lazy(async () => ({
  default: (await import('../versions/Versions.tsx')).Versions,
}));

function VersionsButton() {
  const namespace = useEditorPart((state) => state.namespace);
  const mayRead = useMay({ verb: 'list', resource: REVISIONS, namespace });
  const [restored, setRestored] = useState(0);
  const asked = useVersionInAddress();
  if (!mayRead) return null;
  return (
    <DrawerButton
      label="Versions"
      icon={<IconHistory size={18} />}
      width={720}
      closeOn={restored}
      openOn={asked}
    >
      <Versions asked={asked} onRestored={() => setRestored(restored + 1)} />
    </DrawerButton>
  );
}

/** The version that the address asked for last, which is removed from it. */
function useVersionInAddress(): string | undefined {
  const { version } = useSearch({ from: '/p/$project/workflows/$workflow' });
  const navigate = useNavigate({ from: '/p/$project/workflows/$workflow' });
  const [asked, setAsked] = useState<string>();
  useEffect(() => {
    if (version === undefined) return;
    setAsked(version);
    void navigate({ search: ({ version: _asked, ...others }) => others, replace: true });
  }, [version, navigate]);
  return asked;
}

const WorkflowRuns = lazy(async () => ({
  default: (await import('../../runs/WorkflowRuns.tsx')).WorkflowRuns,
}));

function RunHistory({ namespace, workflow }: { namespace: string; workflow: string }) {
  const { run } = useSearch({ strict: false });
  return (
    <DrawerButton
      label="Runs of this workflow"
      icon={<IconListCheck size={18} />}
      width={980}
      isFilled
      closeOn={run}
    >
      <WorkflowRuns namespace={namespace} workflow={workflow} />
    </DrawerButton>
  );
}
