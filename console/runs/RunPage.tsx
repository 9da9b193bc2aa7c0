/** One run: phase, timeline, inputs and outputs of its nodes, and actions. */
import { Alert, Badge, Box, Group, Skeleton, Stack, Text, Title, VisuallyHidden } from '@mantine/core';
import { IconInfoCircle, IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useState, type ReactNode } from 'react';
import { personName } from '../../api/person.ts';
import type { Followed } from './live/follow.ts';
import type { RunAt } from './live/runAt.ts';
import { durationOf, failedNode, relevantNode, resultOf, type RunResult } from './live/result.ts';
import { useFollowed } from './live/runStore.ts';
import type { NodeView, RunHead } from './live/nodeView.ts';
import { useObject } from '../kube/hooks.ts';
import { RUNS, WORKFLOWS, type RunObject, type WorkflowObject } from '../kube/resources.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { FailureNote } from '../ui/FailureNote.tsx';
import { ButtonLink, TextLink } from '../ui/links.tsx';
import { named, nodeNamesOf, type NodeNames } from '../workflows/nodeNames.ts';
import { triggerLabel } from '../workflows/triggers.ts';
import { fullTime, formatDuration } from '../ui/format.ts';
import { usageText } from '../ui/usage.ts';
import { FailureOf } from './FailureOf.tsx';
import { NodeDetails } from './NodeDetails.tsx';
import { loopItem, type LoopItem } from './output/items.ts';
import { PhaseLabel } from './phases.tsx';
import { replacedBy, withReasonOf } from './replaced.ts';
import {
  isDraftQuery,
  nodeNamesQuery,
  otherThanToday,
  revisionQuery,
  shapeOf,
  type RevisionShape,
} from './revision.ts';
import { RunActions } from './RunActions.tsx';
import { runTitle } from './shortRun.ts';
import { useRunTime } from './useRunTime.ts';
import { Waterfall } from './Waterfall.tsx';
import classes from './RunPage.module.css';

export function RunPage() {
  const { project, run } = useParams({ from: '/p/$project/runs/$run' });
  const { workflow } = useSearch({ from: '/p/$project/runs/$run' });
  const record = useObject(RUNS, project, run, { mayBeMissing: true });
  const name =
    workflow ?? record.data?.spec.workflow ?? (record.data === null ? guessedWorkflow(run) : undefined);
  if (record.error !== null && name === undefined)
    return (
      <Box p="md">
        <FailureNote error={record.error} onRetry={() => void record.refetch()} />
      </Box>
    );
  if (name === undefined) return <Loading run={run} />;
  return <RunOf key={run} at={{ namespace: project, workflow: name, run }} />;
}

/** Runs are named after their workflow, which is enough to find one without a record. */
function guessedWorkflow(run: string): string {
  return run.replace(/-[a-z0-9]{15}$/, '');
}

function RunOf({ at }: { at: RunAt }) {
  const followed = useFollowed(at);
  const { run, connection, failure } = followed;
  if (connection === 'failed' && failure?.status === 404) return <NoRun at={at} />;
  if (connection === 'failed')
    return (
      <Box p="md">
        <FailureNote title="Could not load the run" error={failure} />
      </Box>
    );
  return run === undefined ? <Loading run={at.run} /> : <Shown at={at} run={run} followed={followed} />;
}

function NoRun({ at: { namespace: project, run } }: { at: RunAt }) {
  return (
    <EmptyState
      icon={IconPlayerPlay}
      title={`Run "${run}" not found`}
      actions={
        <ButtonLink to="/p/$project/runs" params={{ project }}>
          Go to runs
        </ButtonLink>
      }
    >
      It was deleted from the history of its workflow, or never existed in the project {project}.
    </EmptyState>
  );
}

function Loading({ run }: { run: string }) {
  return (
    <Stack p="md" role="group" aria-busy aria-label="Loading run">
      <VisuallyHidden component="h1">{run}</VisuallyHidden>
      <Skeleton h={60} />
      <Skeleton h={220} />
    </Stack>
  );
}

type ShownProps = { at: RunAt; run: RunHead; followed: Followed };

function Shown({ at, run, followed: { nodes, conversations, connection } }: ShownProps) {
  const { data: record } = useObject(RUNS, at.namespace, at.run, { mayBeMissing: true });
  const { data: workflow } = useObject(WORKFLOWS, at.namespace, at.workflow);
  const { data: revision } = useQuery(revisionQuery(at.namespace, run.revision));
  const shape = useMemo(() => shapeOf(revision), [revision]);
  const names = useNodeNames(at, run, workflow);
  const [asked, setChosen] = useState<string>();
  const failed = failedNode(nodes);
  const isResumed = record?.spec.resume === true;
  const chosen = asked ?? relevantNode(run.phase, nodes, shape.ids);
  const node =
    chosen === undefined ? undefined : (nodes.get(chosen) ?? { id: chosen, phase: 'Pending' as const });
  return (
    <Stack gap="md" p="md" style={{ flex: 1, minHeight: 0, overflow: 'auto' }}>
      <Stack gap={8}>
        <Group justify="space-between" align="start" wrap="wrap" gap="sm">
          <div style={{ flex: '1 1 420px', minWidth: 0 }}>
            <Heading
              at={at}
              run={run}
              workflow={workflow}
              connection={connection}
              hasFailures={resultOf(run, nodes, names)?.hasFailures}
            />
          </div>
          <RunActions at={at} run={run} record={record} nodes={nodes} workflow={workflow} names={names} />
        </Group>
        <Facts
          at={at}
          run={run}
          record={record}
          title={workflow?.spec.displayName}
          today={workflow?.status?.revision}
          names={names}
        />
      </Stack>
      {run.phase === 'Failed' && failed === undefined && (
        <FailureOf title="Run failed" reason={run.reason} message={run.message} />
      )}
      {run.reason === 'Replaced' && <Replaced at={at} run={run} />}
      {run.summary === true ? (
        <SummaryNote />
      ) : (
        <div className={classes['columns'] ?? ''}>
          <section aria-label="Timeline">
            <Waterfall
              run={run}
              nodes={nodes}
              order={shape.ids}
              names={names}
              depth={shape.depth}
              isResumed={isResumed}
              chosen={chosen}
              onChoose={setChosen}
            />
          </section>
          <section aria-label="Selected node">
            {node !== undefined && (
              <NodeDetails
                key={node.id}
                at={at}
                node={withReasonOf(run, node)}
                names={names}
                {...inputOf(shape, nodes, node)}
                credentials={shape.failedCredentials(withReasonOf(run, node))}
                calls={shape.callsOf(node.id)}
                hasWorkflowTools={shape.hasWorkflowTools(node.id)}
                conversation={conversations.get(node.id)}
                isAgent={shape.isAgent(node.id)}
                isWithheld={shape.isWithheld(node.id)}
                run={run}
                beginning={{ resume: isResumed, accepted: run.acceptedTime }}
              />
            )}
          </section>
        </div>
      )}
    </Stack>
  );
}

type HeadingProps = {
  at: RunAt;
  run: RunHead;
  workflow: WorkflowObject | null | undefined;
  connection: Followed['connection'];
  hasFailures: RunResult['hasFailures'];
};

function Heading({ at, run, workflow, connection, hasFailures }: HeadingProps) {
  return (
    <>
      <Group gap="sm" wrap="wrap">
        <Title order={1} size="h3" style={{ overflowWrap: 'anywhere' }}>
          {runTitle(workflow?.spec.displayName ?? at.workflow, run.acceptedTime ?? run.startTime)}
        </Title>
        <span role="status" style={{ display: 'inline-flex' }}>
          <PhaseLabel phase={run.phase} size={18} hasFailures={hasFailures} />
        </span>
        <Badges run={run} connection={connection} />
      </Group>
      <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
        {at.run}
      </Text>
    </>
  );
}

/** The names of the version that ran; of the workflow as it is now, if that does not hold them. */
function useNodeNames(
  { namespace }: RunAt,
  { revision }: RunHead,
  workflow: WorkflowObject | null | undefined,
): NodeNames {
  const { data: ran } = useQuery(nodeNamesQuery(namespace, revision));
  const nodes = workflow?.spec.nodes;
  return useMemo(() => ran ?? nodeNamesOf(nodes ?? []), [ran, nodes]);
}

function SummaryNote() {
  return (
    <Alert variant="light" color="gray" icon={<IconInfoCircle />} title="Only a summary of this run exists">
      The record was deleted, or was not written because too many runs succeeded at the same time. Inputs and
      outputs are not available, and the run cannot be retried.
    </Alert>
  );
}

/**
 * The item and the nodes whose outputs a node read. The list is not the input of a node that gets one item of
 * it.
 */
function inputOf(
  shape: RevisionShape,
  nodes: ReadonlyMap<string, NodeView>,
  { id, item: index }: NodeView,
): { item: LoopItem | undefined; before: NodeView[] } {
  const loop = shape.loopAround(id);
  const item = loop && index !== undefined ? loopItem(loop, nodes, index) : undefined;
  const before = shape
    .before(id)
    .filter((giver) => item === undefined || shape.depth(giver) === shape.depth(id))
    .flatMap((giver) => nodes.get(giver) ?? []);
  return { item, before };
}

function Badges({ run, connection }: { run: RunHead; connection: Followed['connection'] }) {
  return (
    <>
      {run.test && (
        <Badge variant="default" tt="none">
          Test run
        </Badge>
      )}
      {connection === 'broken' && (
        <Badge color="orange" variant="light" tt="none">
          Reconnecting…
        </Badge>
      )}
    </>
  );
}

function Replaced({ at: { namespace: project, workflow }, run }: Pick<ShownProps, 'at' | 'run'>) {
  const newer = replacedBy(run);
  return (
    <FailureOf
      color="gray"
      title="A newer run replaced this run"
      reason={run.reason}
      message={newer === undefined ? run.message : undefined}
    >
      {newer !== undefined && (
        <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
          Replaced by{' '}
          <TextLink
            size="sm"
            to="/p/$project/runs/$run"
            params={{ project, run: newer }}
            search={{ workflow }}
          >
            {newer}
          </TextLink>
        </Text>
      )}
    </FailureOf>
  );
}

type FactsProps = {
  at: RunAt;
  run: RunHead;
  record: RunObject | null | undefined;
  /** The display name of the workflow. */
  title: string | undefined;
  /** The revision of the workflow. */
  today: string | undefined;
  names: NodeNames;
};

function Facts({ at, run, record, title, today, names }: FactsProps) {
  const now = useRunTime(run);
  const parent = record?.spec.parent;
  const usage = record?.status?.usage;
  const { namespace: project, workflow } = at;
  const took = durationOf(run, now);
  return (
    <div className={classes['facts'] ?? ''}>
      <WorkflowFact project={project} workflow={workflow} title={title} />
      {run.trigger !== undefined && <Fact name="Trigger">{triggerLabel(run.trigger)}</Fact>}
      {run.requestedBy !== undefined && (
        <Fact name="Started by">
          <span title={run.requestedBy}>{personName(run.requestedBy)}</span>
        </Fact>
      )}
      {run.acceptedTime !== undefined && <Fact name="Received">{fullTime(run.acceptedTime)}</Fact>}
      {run.startTime !== undefined && <Fact name="Started">{fullTime(run.startTime)}</Fact>}
      {run.completionTime !== undefined && <Fact name="Ended">{fullTime(run.completionTime)}</Fact>}
      {took !== undefined && <Fact name="Duration">{formatDuration(took)}</Fact>}
      {usage !== undefined && <Fact name="Model use">{usageText(usage)}</Fact>}
      {run.until !== undefined && <Fact name="Stops at">{named(names, run.until)}</Fact>}
      {parent !== undefined && (
        <Fact name="Started by node">
          {parent.node} of{' '}
          <TextLink size="sm" to="/p/$project/runs/$run" params={{ project, run: parent.run }} search={{}}>
            {parent.run}
          </TextLink>
        </Fact>
      )}
      {run.retryOf !== undefined && (
        <Fact name="Retry of">
          <TextLink
            size="sm"
            to="/p/$project/runs/$run"
            params={{ project, run: run.retryOf }}
            search={{ workflow }}
          >
            {run.retryOf}
          </TextLink>
        </Fact>
      )}
      <RevisionFact at={at} run={run} today={today} />
    </div>
  );
}

type WorkflowFactProps = { project: string; workflow: string } & Pick<FactsProps, 'title'>;

function WorkflowFact({ project, workflow, title = workflow }: WorkflowFactProps) {
  return (
    <Fact name="Workflow">
      <TextLink
        size="sm"
        to="/p/$project/workflows/$workflow"
        params={{ project, workflow }}
        title={workflow}
      >
        {title}
      </TextLink>
    </Fact>
  );
}

/** With a link to the version, unless the revision is that of a draft, or is gone. */
function RevisionFact({ at, run: { revision, test }, today }: Pick<FactsProps, 'at' | 'run' | 'today'>) {
  const { namespace: project, workflow } = at;
  const { data: isDraft } = useQuery(isDraftQuery(project, revision));
  if (revision === undefined) return null;
  const other = otherThanToday({ revision, test, today, isDraft });
  return (
    <Fact name="Version">
      {isDraft === false ? (
        <TextLink
          size="sm"
          to="/p/$project/workflows/$workflow"
          params={{ project, workflow }}
          search={{ version: revision }}
        >
          {revision}
        </TextLink>
      ) : (
        revision
      )}
      {other !== undefined && ` (${other.text.toLowerCase()})`}
    </Fact>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
      <Text span size="xs" c="dimmed" display="block">
        {name}
      </Text>
      {children}
    </Text>
  );
}
