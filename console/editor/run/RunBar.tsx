/** The test run in the editor's bar: the runs there were, and the button that starts one (Ctrl+Enter). */
import { Button, Group, Tooltip } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useMay } from '../../kube/access.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import { useEditorPart } from '../store/store.ts';
import { RunHistory } from './RunHistory.tsx';
import { TestDialog } from './TestDialog.tsx';
import { askForTestRun, useTestRunAsked } from '../../runs/live/calls.ts';

export function RunBar() {
  const namespace = useEditorPart((state) => state.namespace);
  const name = useEditorPart((state) => state.name);
  const suspended = useEditorPart((state) => state.workflow.spec.suspend === true);
  const asked = useTestRunAsked();
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
          if (mayTest && !suspended && asked === undefined) askForTestRun();
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
            onClick={() => !suspended && askForTestRun()}
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
