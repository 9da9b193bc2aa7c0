/** The output of the node in the run on the canvas, or in the newest run in which it produced output. */
import { disabledIn } from '../model/disabling.ts';
import { DISABLED } from '../../../api/disabled.ts';
import { Alert, Button, Group, Skeleton, Stack, Text, Tooltip } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { NodeOutputs } from '../../runs/live/lastResults.ts';
import { LiveText } from '../../runs/live/LiveText.tsx';
import { hasFailedItems, type NodeView } from '../../runs/live/nodeView.ts';
import { useRunView, useShownRun } from '../../runs/live/runStore.ts';
import { FailureOf } from '../../runs/FailureOf.tsx';
import { hasConversation } from '../../runs/conversation/hasConversation.ts';
import { LogText } from '../../runs/LogText.tsx';
import { PhaseLabel } from '../../runs/phases.tsx';
import { REDACTED } from '../../runs/output/OutputView.tsx';
import { IconPlayerPlay, IconPlayerTrackNext } from '@tabler/icons-react';
import { useMay } from '../../kube/access.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import { ItemRuns } from '../../runs/ItemRuns.tsx';
import type { RunAt } from '../../runs/live/runAt.ts';
import { ChildLink } from '../../runs/live/ChildLink.tsx';
import { FoundNote, SampleNote, WaitNote } from '../../runs/NodeNotes.tsx';
import { callsOfItems, type LoopNode } from '../../runs/output/items.ts';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { nodeOf, triggerOf } from '../model/model.ts';
import { pinOf } from '../model/pin.ts';
import { shownIndex } from '../model/scopes.ts';
import { useMayTestDraft } from '../store/rights.ts';
import { useEditor, useEditorPart } from '../store/store.ts';
import { openTestDialog } from '../../runs/live/runRequests.ts';
import { FixButton, fixText } from './FixButton.tsx';
import { IN_ROW, PinButton, PinnedOutput } from './PinnedOutput.tsx';

const OutputView = lazy(async () => ({
  default: (await import('../../runs/output/OutputView.tsx')).OutputView,
}));
const NodeConversation = lazy(async () => ({
  default: (await import('../../runs/conversation/NodeConversation.tsx')).NodeConversation,
}));
const LoopOutput = lazy(async () => ({
  default: (await import('../../runs/LoopOutput.tsx')).LoopOutput,
}));

type Output = NodeOutputs | undefined;

export function OutputTab({ nodeId, last }: { nodeId: string; last: NodeOutputs | undefined }) {
  const at = useShownRun();
  const { nodes, conversations } = useRunView();
  const node = nodes.get(nodeId);
  const live = conversations.get(nodeId);
  const { isAgent, isWithheld } = useAgent(nodeId);
  const showsConversation = node !== undefined && hasConversation(node, live, isAgent);
  return (
    <Stack gap="xs">
      {node !== undefined && (
        <Group gap="xs">
          <Progress node={node} />
        </Group>
      )}
      <Group gap={4}>
        <RunButtons nodeId={nodeId} />
        <PinButton nodeId={nodeId} />
      </Group>
      <PinnedOutput nodeId={nodeId} />
      {node !== undefined && at !== undefined && <Notes node={node} project={at.namespace} />}
      {at !== undefined && node?.phase === 'Running' && !showsConversation && (
        <LiveText at={at} nodeId={nodeId} />
      )}
      {node === undefined && last !== undefined && (
        <Text size="xs" c="dimmed">
          From the last run in which this node produced output.
        </Text>
      )}
      <Result
        nodeId={nodeId}
        at={at}
        node={node}
        output={node === undefined ? last : node.output}
        hidesCalls={showsConversation}
      />
      {showsConversation && (
        <Suspense>
          <Text size="xs" fw={600} c="dimmed">
            Conversation
          </Text>
          <NodeConversation at={at} node={node} live={live} isWithheld={isWithheld} />
        </Suspense>
      )}
      {node?.log !== undefined && (
        <>
          <Text size="xs" fw={600} c="dimmed">
            Log
          </Text>
          <LogText text={node.log} />
        </>
      )}
    </Stack>
  );
}

/** What the draft says of an agent. */
function useAgent(nodeId: string): { isAgent: boolean; isWithheld: boolean } {
  const { draft } = useEditor();
  const { agent, sensitive } = nodeOf(draft, nodeId) ?? {};
  const { recordData = 'All' } = draft.spec;
  return {
    isAgent: (agent?.tools ?? []).length > 0,
    isWithheld: recordData !== 'All' || sensitive === true,
  };
}

type ResultProps = {
  nodeId: string;
  at: RunAt | undefined;
  node: NodeView | undefined;
  output: Output;
  hidesCalls: boolean;
};

/** The output of the node; of a loop with its items. */
function Result({ nodeId, at, node, output, hidesCalls }: ResultProps) {
  const { draft, shownItems, showItem } = useEditor();
  const { forEach } = nodeOf(draft, nodeId) ?? {};
  const isLoop = forEach !== undefined;
  const calls = node === undefined ? [] : callsOfItems(draft.spec.nodes.map(toLoopNode), nodeId);
  const isTruncated = node?.truncated === true;
  if (isLoop && (output !== undefined || node?.items !== undefined))
    return (
      <Suspense fallback={<Skeleton h={120} />}>
        <LoopOutput
          output={output}
          nodeId={nodeId}
          items={node?.items}
          index={shownIndex(shownItems, nodeId)}
          onIndex={(index) => showItem(nodeId, index)}
          aboutItem={
            at === undefined || calls.length === 0
              ? undefined
              : (index) => <ItemRuns at={at} nodes={calls} index={index} />
          }
          isTruncated={isTruncated}
        />
      </Suspense>
    );
  if (output === undefined && node === undefined && pinOf(draft, nodeId) !== undefined) return null;
  if (output === undefined) return <EmptyOutput node={node} />;
  return (
    <Suspense fallback={<Skeleton h={120} />}>
      <OutputView output={output} nodeId={nodeId} isTruncated={isTruncated} hidesCalls={hidesCalls} />
    </Suspense>
  );
}

function toLoopNode({ id, within, workflow, forEach }: WorkflowNode): LoopNode {
  return { id, within, isCall: workflow !== undefined, hasItems: forEach !== undefined };
}

function Notes({ node, project }: { node: NodeView; project: string }) {
  return (
    <>
      <Outcome node={node} />
      <WaitNote node={node} />
      {node.run !== undefined && <ChildLink project={project} run={node.run} />}
      {node.item !== undefined && <SampleNote item={node.item} />}
    </>
  );
}

/** The result of the node, and for failures what to do. */
function Outcome({ node: { id: node, phase, reason, message, missing } }: { node: NodeView }) {
  if (phase === 'Failed' || phase === 'Unknown')
    return (
      <FailureOf
        title={phase === 'Unknown' ? 'Outcome unknown: its effect may have happened' : 'Failed'}
        reason={reason}
        message={message}
      >
        <FoundNote missing={missing} />
        <FixButton label="Ask a model to fix this error" text={fixText(node, { reason, message })} />
      </FailureOf>
    );
  if (message === undefined || reason === DISABLED) return null;
  return (
    <Alert color="gray" variant="light" p="xs" title={reason}>
      <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
        {message}
      </Text>
    </Alert>
  );
}

/** Why there is no output. For running, waiting and failed nodes the phase says enough. */
function EmptyOutput({ node }: { node: NodeView | undefined }) {
  const why =
    node === undefined
      ? NEVER_RAN
      : node.redacted
        ? REDACTED
        : node.reason === DISABLED
          ? WAS_DISABLED
          : WITHOUT_OUTPUT[node.phase];
  if (why === undefined) return null;
  return (
    <Text size="xs" c="dimmed">
      {why}
    </Text>
  );
}

const NEVER_RAN = 'No output yet. Start a test run to see what this node produces.';

const WAS_DISABLED = 'Skipped: the node was disabled. The run went on with the nodes after it.';

const WITHOUT_OUTPUT: Partial<Record<NodeView['phase'], string>> = {
  Skipped: 'Skipped: no connection to this node was taken.',
  Cancelled: 'Cancelled before it produced output.',
  Succeeded: 'The output is no longer available.',
};

function Progress({ node }: { node: NodeView }) {
  const { phase, reason, attempts = 0 } = node;
  return (
    <>
      <PhaseLabel phase={phase} reason={reason} hasFailures={hasFailedItems(node)} />
      {attempts > 1 && <Text size="xs">{attempts} attempts</Text>}
    </>
  );
}

/** Starts a test run up to a node, or of it alone. Hidden from users who may not start runs. */
function RunButtons({ nodeId }: { nodeId: string }) {
  const namespace = useEditorPart((state) => state.namespace);
  const name = useEditorPart((state) => state.name);
  const mayTest = useMay({ verb: 'create', resource: WORKFLOWS, subresource: 'execute', namespace, name });
  const mayTestDraft = useMayTestDraft();
  const isStep = useEditorPart(({ draft }) => triggerOf(draft)?.id !== nodeId);
  const isDisabled = useEditorPart(({ draft }) => disabledIn(draft.spec).has(nodeId));
  if (!mayTest) return null;
  return (
    <>
      <Button
        variant="default"
        px={IN_ROW}
        leftSection={<IconPlayerTrackNext size={14} />}
        onClick={() => openTestDialog(nodeId)}
      >
        Run to here
      </Button>
      {isStep && !isDisabled && mayTestDraft && (
        <Tooltip label="With the pinned or last outputs of the nodes before it">
          <Button
            variant="default"
            px={IN_ROW}
            leftSection={<IconPlayerPlay size={14} />}
            onClick={() => openTestDialog(nodeId, { isOnly: true })}
          >
            Run this node
          </Button>
        </Tooltip>
      )}
    </>
  );
}
