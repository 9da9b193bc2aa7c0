/** One node of a run: input, output and failure. */
import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { isTerminal } from '../../api/phase.ts';
import type { RunAt } from './live/runAt.ts';
import { hasConversation } from './conversation/hasConversation.ts';
import { NodeConversation } from './conversation/NodeConversation.tsx';
import type { Conversation } from './live/conversation.ts';
import { LiveText } from './live/LiveText.tsx';
import { durationOf } from './live/result.ts';
import { hasFailedItems, itemsText, type NodeView, type RunHead } from './live/nodeView.ts';
import { sentOf } from './live/sentValues.ts';
import { fullTime, formatDuration } from '../ui/format.ts';
import { attemptsText, isKept, type Beginning } from './keptNodes.ts';
import { costText } from '../ui/usage.ts';
import { CredentialLinks } from './CredentialLinks.tsx';
import { FailureOf } from './FailureOf.tsx';
import { AllItemRuns, ItemRuns } from './ItemRuns.tsx';
import { LogText } from './LogText.tsx';
import { FoundNote, SampleNote, WaitNote } from './NodeNotes.tsx';
import { LoopOutput } from './LoopOutput.tsx';
import type { LoopItem } from './output/items.ts';
import { OutputView } from './output/OutputView.tsx';
import { NodeTitle } from './NodeTitle.tsx';
import { named, type NodeNames } from '../workflows/nodeNames.ts';
import { SentView } from './SentView.tsx';
import { StartedRuns } from './StartedRuns.tsx';
import { PhaseLabel } from './phases.tsx';
import { useRunTime } from './useRunTime.ts';

type Props = {
  at: RunAt;
  node: NodeView;
  names: NodeNames;
  /** The nodes whose outputs it may use. */
  before: NodeView[];
  /** The item that it was executed for, if its value is known. */
  item?: LoopItem | undefined;
  /** The credentials that its failure is about. */
  credentials: readonly string[];
  /** The nodes that are executed once for each of its items and may run another workflow. */
  calls: readonly string[];
  /** Whether it is an agent with a tool that does. */
  hasWorkflowTools: boolean;
  /** Of an agent, as live events told it. */
  conversation: Conversation | undefined;
  /** Whether it is an agent with tools. */
  isAgent: boolean;
  /** Whether live events withhold what it says. */
  isWithheld: boolean;
  run: RunHead;
  /** Of a run that continues another one: attempts count those of that run too. */
  beginning: Beginning;
};

export function NodeDetails({
  at,
  node,
  names,
  before,
  item,
  credentials,
  calls,
  hasWorkflowTools,
  run,
  beginning,
  ...agent
}: Props) {
  const isFailed = node.phase === 'Failed' || node.phase === 'Unknown';
  const showsConversation = hasConversation(node, agent.conversation, agent.isAgent);
  return (
    <Stack gap="md">
      <Group gap="sm" wrap="wrap">
        <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
          <NodeTitle id={node.id} names={names} />
        </Title>
        <PhaseLabel
          phase={node.phase}
          reason={node.reason}
          hasEnded={isTerminal(run.phase)}
          hasFailures={hasFailedItems(node)}
        />
        <Facts run={run} node={node} beginning={beginning} />
      </Group>
      {isFailed && <NodeFailure at={at} node={node} credentials={credentials} />}
      {!isFailed && node.message !== undefined && (
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {node.message}
        </Text>
      )}
      <WaitNote node={node} />
      <StartedRuns at={at} node={node} hasWorkflowTools={hasWorkflowTools} />
      {node.item !== undefined && <SampleNote item={node.item} />}
      {item !== undefined && <ItemInput item={item} names={names} />}
      {before.map((giver) => (
        <Part key={giver.id} title={`Input: output of ${named(names, giver.id)}`}>
          <OutputView
            output={giver.output}
            nodeId={giver.id}
            isTruncated={giver.truncated === true}
            isRedacted={giver.redacted === true}
          />
        </Part>
      ))}
      {sentOf(node) !== undefined && (
        <Part title="Sent">
          <SentView node={node} />
        </Part>
      )}
      <Part title="Output">
        <NodeOutput
          at={at}
          node={node}
          hasEnded={isTerminal(run.phase)}
          calls={calls}
          showsConversation={showsConversation}
          isAgent={agent.isAgent}
        />
      </Part>
      {showsConversation && (
        <Part title="Conversation">
          <NodeConversation at={at} node={node} live={agent.conversation} isWithheld={agent.isWithheld} />
        </Part>
      )}
      {node.log !== undefined && (
        <Part title="Log">
          <LogText text={node.log} />
        </Part>
      )}
    </Stack>
  );
}

function NodeFailure({ at, node, credentials }: Pick<Props, 'at' | 'node' | 'credentials'>) {
  const title = node.phase === 'Unknown' ? 'Outcome unknown: its effect may have happened' : 'Failed';
  return (
    <FailureOf title={title} reason={node.reason} message={node.message}>
      <FoundNote missing={node.missing} />
      <CredentialLinks
        project={at.namespace}
        names={credentials}
        back={{ run: at.run, workflow: at.workflow }}
      />
    </FailureOf>
  );
}

type OutputProps = Pick<Props, 'at' | 'node' | 'calls' | 'isAgent'> & {
  showsConversation: boolean;
  /** The run has. */
  hasEnded: boolean;
};

/** `showsConversation`: its text and tool calls are shown as a conversation. */
function NodeOutput({ at, node, calls, showsConversation, isAgent, hasEnded }: OutputProps) {
  const [index, setIndex] = useState(0);
  const isAhead = !hasEnded && ['Pending', 'Waiting'].includes(node.phase) && node.items === undefined;
  if (isAhead || (node.phase === 'Running' && showsConversation))
    return (
      <Text size="sm" c="dimmed">
        No output yet.
      </Text>
    );
  if (node.phase === 'Running' && node.items === undefined) return <LiveText at={at} nodeId={node.id} />;
  if (node.items !== undefined)
    return (
      <LoopOutput
        key={node.completionTime ?? ''}
        output={node.output}
        nodeId={node.id}
        items={node.items}
        index={index}
        onIndex={setIndex}
        aboutItem={(shown) => calls.length > 0 && <ItemRuns at={at} nodes={calls} index={shown} />}
        aboutAll={calls.length > 0 && <AllItemRuns at={at} nodes={calls} />}
        isTruncated={node.truncated === true}
        isRedacted={node.redacted === true}
      />
    );
  return (
    <OutputView
      key={node.completionTime ?? ''}
      output={node.output}
      nodeId={node.id}
      hidesCalls={showsConversation}
      refusesCalls={!isAgent}
      isTruncated={node.truncated === true}
      isRedacted={node.redacted === true}
    />
  );
}

type ItemProps = { item: LoopItem; names: NodeNames };

function ItemInput({ item: { loop, index, value }, names }: ItemProps) {
  return (
    <Part title={`Input: item [${index}] of ${named(names, loop)}`}>
      <OutputView output={{ data_content: value }} nodeId={loop} item={index} />
    </Part>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="sm" component="section" aria-label={title}>
      <Text size="xs" fw={600} c="dimmed" mb={6}>
        {title}
      </Text>
      {children}
    </Paper>
  );
}

function Facts({ run, node, beginning }: Pick<Props, 'run' | 'node' | 'beginning'>) {
  const now = useRunTime(run);
  const took = durationOf(node, now);
  const { usage, attempts = 0, nextAttemptTime } = node;
  const facts = [
    node.items === undefined ? undefined : itemsText(node.items),
    took === undefined ? undefined : formatDuration(took),
    isKept(node, beginning) ? 'kept from the run that this one continues' : undefined,
    attempts > 1 ? attemptsText(attempts, beginning) : undefined,
    nextAttemptTime === undefined ? undefined : `next attempt ${fullTime(nextAttemptTime)}`,
    // While it runs, the conversation has newer counts.
    usage === undefined || node.phase === 'Running'
      ? undefined
      : `${(usage.inputTokens ?? 0).toLocaleString('en')} input tokens, ${(usage.outputTokens ?? 0).toLocaleString('en')} output tokens${usage.cost === undefined ? '' : `, ${costText(usage.cost)} ${usage.currency ?? ''}`}`,
  ].filter((fact) => fact !== undefined);
  return (
    <Text size="sm" c="dimmed">
      {facts.join(' · ')}
    </Text>
  );
}
