/**
 * The run controls of the header: the history of runs, and the button that starts a test run (Ctrl+Enter).
 */
import { ActionIcon, Button, Drawer, Group, Loader, Tooltip } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconHistory, IconPlayerPlay } from '@tabler/icons-react';
import { useMay } from '../../kube/access.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import { useEditorPart } from '../store/store.ts';
import { TestDialog } from './TestDialog.tsx';
import { openTestDialog, useTestRunRequest } from '../../runs/live/calls.ts';
import { useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';

export function RunBar() {
  const namespace = useEditorPart((state) => state.namespace);
  const name = useEditorPart((state) => state.name);
  const suspended = useEditorPart((state) => state.workflow.spec.suspend === true);
  const asked = useTestRunRequest();
  const mayTest = useMay({
    verb: 'create',
    resource: WORKFLOWS,
    subresource: 'execute',
    namespace,
    name,
  });
  useHotkeys(
    [
      [
        'mod+Enter',
        () => {
          if (mayTest && !suspended && asked === undefined) openTestDialog();
        },
      ],
    ],
    [],
    true,
  );
  const hint = suspended
    ? 'Suspended: resume the workflow to run it'
    : 'Run the workflow with test data (Ctrl+Enter)';
  return (
    <Group gap="xs" wrap="nowrap">
      <RunHistory namespace={namespace} workflow={name} />
      {mayTest && (
        <Tooltip label={hint}>
          <Button
            variant="light"
            leftSection={<IconPlayerPlay size={14} />}
            onClick={() => !suspended && openTestDialog()}
            {...(suspended && { 'data-disabled': true, 'aria-disabled': true })}
            aria-keyshortcuts="Control+Enter"
          >
            Test run
          </Button>
        </Tooltip>
      )}
      {mayTest && asked !== undefined && <TestDialog until={asked.until} />}
    </Group>
  );
}

const WorkflowRuns = lazy(async () => ({
  default: (await import('../../runs/WorkflowRuns.tsx')).WorkflowRuns,
}));

function RunHistory({ namespace, workflow }: { namespace: string; workflow: string }) {
  const [isOpen, setOpen] = useState(false);
  const { run } = useSearch({ strict: false });
  useEffect(() => setOpen(false), [run]);
  return (
    <>
      <Tooltip label="Runs of this workflow">
        <ActionIcon
          variant="subtle"
          color="gray"
          size="md"
          aria-label="Runs of this workflow"
          onClick={() => setOpen(true)}
        >
          <IconHistory size={18} />
        </ActionIcon>
      </Tooltip>
      <Drawer
        opened={isOpen}
        onClose={() => setOpen(false)}
        position="right"
        size="min(980px, 100%)"
        title="Runs of this workflow"
        styles={{
          content: { display: 'flex', flexDirection: 'column' },
          body: { flex: 1, minHeight: 0, display: 'flex', flexDirection: 'column' },
        }}
      >
        <Suspense fallback={<Loader size="sm" aria-label="Loading runs" />}>
          <WorkflowRuns namespace={namespace} workflow={workflow} />
        </Suspense>
      </Drawer>
    </>
  );
}
