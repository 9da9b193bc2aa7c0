/** The button that repeats an ended run from its start, or continues a failed run from its failed node. */
import { Button, Menu, Modal, Text, type ButtonProps } from '@mantine/core';
import { IconChevronDown, IconRepeat } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { schemas } from 'windlass:schemas';
import { CLOSED } from '../../api/access.ts';
import { useMay } from '../kube/access.ts';
import { RUNS, WORKFLOWS, type RunObject, type WorkflowObject } from '../kube/resources.ts';
import { sessionQuery, userNameOf } from '../session/session.ts';
import { notifyFailure, notifySuccess } from '../ui/notify.tsx';
import type { RunAt } from './live/runAt.ts';
import type { NodeView, RunHead } from './live/nodeView.ts';
import { EffectDecisions } from './EffectDecisions.tsx';
import { resumeRun, undecidedNodes, type Decision } from './resume.ts';
import type { NodeNames } from '../workflows/nodeNames.ts';
import { revisionQuery, shapeOf } from './revision.ts';
import { retryProblem, retryRun } from './retry.ts';
import { createStartRequests, type StartRequest } from './startRequests.ts';

type Props = {
  at: RunAt;
  run: RunHead;
  record: RunObject;
  nodes: ReadonlyMap<string, NodeView>;
  workflow: WorkflowObject;
  names: NodeNames;
  /** The workflow has another version today. */
  isOther: boolean;
};

export function RetryButton({ at, run, record, nodes, workflow, names, isOther }: Props) {
  const { namespace } = at;
  const { isBusy, start } = useStart(at);
  const [isAsked, setAsked] = useState(false);
  const { data: session } = useQuery(sessionQuery);
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
  const asked = {
    namespace,
    workflow: at.workflow,
    retryOf: at.run,
    model: record.spec.model,
    requestedBy: userNameOf(session),
  };
  const fromStart = problem === undefined ? 'Same input; effects happen again' : `Cannot retry: ${problem}`;
  const again = (revision?: string): Promise<void> =>
    start(['again', test, revision], (sent) => retryRun({ ...asked, test, revision }, sent));
  const resume = (decisions: readonly Decision[]): Promise<void> =>
    start(['resume', decisions], async (sent) => {
      const name = await resumeRun(at, { decisions, key: sent.id }, () =>
        retryRun({ ...asked, test: run.test, decisions }, sent),
      );
      setAsked(false);
      return name;
    });
  return (
    <>
      <Menu position="bottom-start">
        <Menu.Target>
          <Button {...buttonOf(run.phase, test)} loading={isBusy} />
        </Menu.Target>
        <Menu.Dropdown>
          {undecided !== undefined && (
            <Menu.Item onClick={() => (undecided.length === 0 ? void resume([]) : setAsked(true))}>
              <Choice title="From the failed node">Outputs of nodes that succeeded are kept</Choice>
            </Menu.Item>
          )}
          <Menu.Item disabled={problem !== undefined} onClick={() => void again()}>
            <Choice title="From the start, with the current version">{fromStart}</Choice>
          </Menu.Item>
          {isOther && (
            <Menu.Item disabled={problem !== undefined} onClick={() => void again(run.revision)}>
              <Choice title="From the start, with the version of this run">{fromStart}</Choice>
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={isAsked}
        onClose={() => setAsked(false)}
        title={undecided?.length === 1 ? 'Did the node do its work?' : 'Did the nodes do their work?'}
        size="lg"
      >
        <EffectDecisions
          ids={undecided ?? []}
          nodes={nodes}
          names={names}
          isBusy={isBusy}
          onCancel={() => setAsked(false)}
          onDecide={(decisions) => void resume(decisions)}
        />
      </Modal>
    </>
  );
}

/** Of a run that succeeded, another run is not what people come for. */
function buttonOf(phase: RunHead['phase'], test: boolean): ButtonProps & { children: string } {
  const icons = { leftSection: <IconRepeat size={14} />, rightSection: <IconChevronDown size={14} /> };
  return phase === 'Succeeded'
    ? { ...icons, variant: 'default', children: test ? 'Run again as test' : 'Run again' }
    : { ...icons, children: test ? 'Retry as test run' : 'Retry' };
}

/** An entry of the menu, and below it what the new run does. */
function Choice({ title, children }: { title: string; children: string }) {
  return (
    <>
      {title}
      <Text span display="block" size="xs" c="dimmed">
        {children}
      </Text>
    </>
  );
}

/** Inactive workflows, and those whose public webhook is not confirmed. */
function acceptsTestsOnly({ spec, status }: WorkflowObject): boolean {
  return !spec.active || status?.access === CLOSED;
}

function Refusal({ children }: { children: React.ReactNode }) {
  return (
    <Text size="xs" c="dimmed" maw={260}>
      {children}
    </Text>
  );
}

/** Starts a run, and opens its page. Never rejects: failures are shown. */
function useStart({ namespace: project, workflow, run: retryOf }: RunAt) {
  const navigate = useNavigate();
  const [isBusy, setBusy] = useState(false);
  const [requests] = useState(createStartRequests);
  const start = async (
    action: unknown[],
    request: (sent: StartRequest) => Promise<string>,
  ): Promise<void> => {
    try {
      await requests.run(JSON.stringify([retryOf, ...action]), async (sent) => {
        setBusy(true);
        try {
          const run = await request(sent);
          notifySuccess(`Started ${run}`);
          await navigate({ to: '/p/$project/runs/$run', params: { project, run }, search: { workflow } });
        } finally {
          setBusy(false);
        }
      });
    } catch (error) {
      notifyFailure('Could not retry the run', error);
    }
  };
  return { isBusy, start };
}
