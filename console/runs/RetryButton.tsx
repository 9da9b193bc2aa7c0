/**
 * The button that repeats an ended run from its start, or continues a failed run from its failed node, and
 * the dialog that asks what happened to effects whose outcome is unknown.
 */
import { Button, Group, JsonInput, Menu, Modal, Radio, Stack, Text } from '@mantine/core';
import { IconChevronDown, IconRepeat } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { schemas } from 'windlass:schemas';
import { CLOSED } from '../../api/access.ts';
import { useMay } from '../kube/access.ts';
import { RUNS, WORKFLOWS, type RunObject, type WorkflowObject } from '../kube/resources.ts';
import { sessionQuery } from '../session/session.ts';
import { notifyFailure, notifySuccess } from '../ui/notify.tsx';
import type { RunAt } from './live/follow.ts';
import type { NodeView, RunHead } from './live/nodeView.ts';
import {
  decisionsOf,
  isOutput,
  itemsLeft,
  resumeRun,
  undecidedNodes,
  type Decision,
  type Entered,
} from './resume.ts';
import { revisionQuery, shapeOf } from './revision.ts';
import { retryProblem, retryRun } from './retry.ts';

type Props = {
  at: RunAt;
  run: RunHead;
  record: RunObject;
  nodes: ReadonlyMap<string, NodeView>;
  workflow: WorkflowObject;
  /** The workflow has another revision today. */
  isOther: boolean;
};

export function RetryButton({ at, run, record, nodes, workflow, isOther }: Props) {
  const { namespace } = at;
  const { isBusy, start } = useStart(at);
  const [isAsked, setAsked] = useState(false);
  const requestedBy = useUserName();
  const { data: revision } = useQuery(revisionQuery(namespace, run.revision));
  const mayRun = useMay(
    { verb: 'create', resource: RUNS, namespace },
    { verb: 'create', resource: WORKFLOWS, subresource: 'execute', namespace, name: at.workflow },
  );
  if (!mayRun) return null;
  if (workflow.spec.suspend) return <Refusal>Cannot retry while the workflow is suspended.</Refusal>;
  const problem = retryProblem(record);
  const undecided = schemas.runFields.includes('resume')
    ? undecidedNodes(run, nodes, shapeOf(revision).depth)
    : undefined;
  if (problem !== undefined && undecided === undefined) return <Refusal>Cannot retry: {problem}</Refusal>;
  const test = run.test || acceptsTestsOnly(workflow);
  const asked = { namespace, workflow: at.workflow, retryOf: at.run, requestedBy };
  const again = (revision?: string): Promise<void> => start(() => retryRun({ ...asked, test, revision }));
  const resume = (decisions: readonly Decision[]): Promise<void> =>
    start(async () => {
      const name = await resumeRun(at, decisions, () => retryRun({ ...asked, test: run.test, decisions }));
      setAsked(false);
      return name;
    });
  return (
    <>
      <Menu position="bottom-start">
        <Menu.Target>
          <Button
            leftSection={<IconRepeat size={14} />}
            rightSection={<IconChevronDown size={14} />}
            loading={isBusy}
          >
            {test ? 'Retry as test run' : 'Retry'}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {undecided !== undefined && (
            <>
              <Menu.Label>Keep the outputs of nodes that succeeded</Menu.Label>
              <Menu.Item onClick={() => (undecided.length === 0 ? void resume([]) : setAsked(true))}>
                From failed node
              </Menu.Item>
            </>
          )}
          <Menu.Label>From the start: {problem ?? 'same input, real effects'}</Menu.Label>
          <Menu.Item disabled={problem !== undefined} onClick={() => void again()}>
            Current revision
          </Menu.Item>
          {isOther && (
            <Menu.Item disabled={problem !== undefined} onClick={() => void again(run.revision)}>
              Revision of this run
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <Modal opened={isAsked} onClose={() => setAsked(false)} title="Did the effect happen?" size="lg">
        <Decisions
          ids={undecided ?? []}
          nodes={nodes}
          isBusy={isBusy}
          onCancel={() => setAsked(false)}
          onDecide={(decisions) => void resume(decisions)}
        />
      </Modal>
    </>
  );
}

/** Inactive workflows, and those whose public webhook is not confirmed. */
function acceptsTestsOnly({ spec, status }: WorkflowObject): boolean {
  return !spec.active || status?.access === CLOSED;
}

function useUserName(): string | undefined {
  const { data: session } = useQuery(sessionQuery);
  return session?.signedIn === true ? session.user.name : undefined;
}

function Refusal({ children }: { children: React.ReactNode }) {
  return (
    <Text size="xs" c="dimmed" maw={260}>
      {children}
    </Text>
  );
}

/** Starts a run, and opens its page. Never rejects: failures are shown. */
function useStart({ namespace: project, workflow }: RunAt) {
  const navigate = useNavigate();
  const [isBusy, setBusy] = useState(false);
  const start = async (request: () => Promise<string>): Promise<void> => {
    setBusy(true);
    try {
      const run = await request();
      notifySuccess(`Started ${run}`);
      await navigate({ to: '/p/$project/runs/$run', params: { project, run }, search: { workflow } });
    } catch (error) {
      notifyFailure('Could not retry the run', error);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, start };
}

type DecisionsProps = {
  ids: readonly string[];
  nodes: ReadonlyMap<string, NodeView>;
  isBusy: boolean;
  onCancel: () => void;
  onDecide: (decisions: Decision[]) => void;
};

function Decisions({ ids, nodes, isBusy, onCancel, onDecide }: DecisionsProps) {
  const [entered, setEntered] = useState<Record<string, Entered>>({});
  const decisions = decisionsOf(ids, entered);
  const enter = (id: string, change: Partial<Entered>): void =>
    setEntered((before) => ({ ...before, [id]: { output: '', ...before[id], ...change } }));
  return (
    <Stack>
      <Text size="sm">
        A runner stopped during {ids.length === 1 ? 'this node' : 'these nodes'}. Check at the service, for
        example in the mailbox, what happened. The new run continues with your answer; nodes that succeeded
        are not repeated.
      </Text>
      {ids.map((id) => {
        const { outcome, output = '' } = entered[id] ?? {};
        return (
          <Stack key={id} gap="xs">
            <Radio.Group label={id} value={outcome ?? null} onChange={(next) => enter(id, { outcome: next })}>
              <Stack gap={6} mt={6}>
                <Radio size="xs" value="AssumeNotDone" label="It did not happen: execute the node again" />
                <Radio size="xs" value="AssumeDone" label={labelOfDone(itemsLeft(nodes.get(id)))} />
              </Stack>
            </Radio.Group>
            {outcome === 'AssumeDone' && (
              <JsonInput
                size="xs"
                label={`Output of ${id} (JSON)`}
                description="What later nodes read as data_content. Empty: null."
                value={output}
                onChange={(text) => enter(id, { output: text })}
                error={isOutput(output) ? undefined : 'Enter valid JSON.'}
                autosize
                minRows={2}
                maxRows={10}
                spellCheck={false}
              />
            )}
          </Stack>
        );
      })}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button
          loading={isBusy}
          disabled={decisions === undefined}
          onClick={() => decisions && onDecide(decisions)}
        >
          Continue the run
        </Button>
      </Group>
    </Stack>
  );
}

function labelOfDone(left: number): string {
  const label = 'It happened: continue after the node';
  return left === 0 ? label : `${label}, without its items that have not ended (${left})`;
}
