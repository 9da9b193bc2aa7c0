/** What the trigger of a workflow does when active: its URL, schedule or polls. */
import { List, Skeleton, Stack, Text } from '@mantine/core';
import { isEnabled } from '../../../api/access.ts';
import type { WorkflowNode, WorkflowStatus } from '../../../api/workflow.ts';
import { readyOf, type Condition } from '../../credentials/state.ts';
import type { WorkflowObject } from '../../kube/resources.ts';
import { isTrigger, kindLabel, nodeKind } from '../../workflows/kinds.ts';
import { PollPanel } from './PollPanel.tsx';
import { DEFAULT_INTERVAL_SECONDS } from './poll.ts';
import { ChatPanel } from './ChatPanel.tsx';
import { WebhookPanel } from './WebhookPanel.tsx';
import { isTriggerKind, triggerDescription } from './activation.ts';
import { useEffect, useState } from 'react';
import type { ScheduleTrigger } from '../../../api/trigger.ts';
import type { CronDescription } from '../../forms/inputs/cron.ts';
import { ago, fullTime } from '../../ui/format.ts';

export function TriggerPanel({ workflow }: { workflow: WorkflowObject }) {
  const trigger = workflow.spec.nodes.find(isTrigger);
  const kind = trigger && nodeKind(trigger);
  if (trigger === undefined || kind === undefined || !isTriggerKind(kind)) return null;
  const isActive = isEnabled(workflow.spec);
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        {kindLabel(kind)}
      </Text>
      {!isActive && (
        <Text size="sm" c="dimmed">
          {triggerDescription(kind, workflow.spec)}
        </Text>
      )}
      <OfKind workflow={workflow} trigger={trigger} />
      {isActive && <TriggerCondition workflow={workflow} />}
    </Stack>
  );
}

function OfKind({ workflow, trigger }: { workflow: WorkflowObject; trigger: WorkflowNode }) {
  const { spec, status } = workflow;
  const { schedule } = trigger;
  const isActive = isEnabled(spec);
  if (trigger.webhook) return <OfWebhook workflow={workflow} trigger={trigger} />;
  if (trigger.chat) return <ChatPanel status={status} />;
  if (schedule) return <SchedulePanel schedule={schedule} status={status?.schedule} isActive={isActive} />;
  const polled = trigger.mail ?? trigger.spreadsheet ?? trigger.fileStorage;
  if (polled === undefined) return isActive ? <Text size="sm">{readyOf(status)?.message}</Text> : null;
  if (!isActive && status?.poll === undefined) return null;
  const { pollIntervalSeconds = DEFAULT_INTERVAL_SECONDS } = polled;
  return <PollPanel workflow={workflow} intervalSeconds={pollIntervalSeconds} isActive={isActive} />;
}

function OfWebhook({ workflow, trigger }: { workflow: WorkflowObject; trigger: WorkflowNode }) {
  const { metadata, spec, status } = workflow;
  const { namespace = '', name } = metadata;
  const { webhook } = trigger;
  if (webhook === undefined) return null;
  if (!isEnabled(spec))
    return (
      <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
        …/webhook/{namespace}.{name}/{webhook.path}
      </Text>
    );
  return (
    <WebhookPanel
      namespace={namespace}
      workflow={name}
      triggerId={trigger.id}
      webhook={webhook}
      url={status?.url}
    />
  );
}

/** The operator's message about the schedule or the account. */
function TriggerCondition({ workflow: { status } }: { workflow: WorkflowObject }) {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const condition = conditions.find(({ type }) => type === 'Scheduled' || type === 'TriggerHealthy');
  if (condition === undefined) return null;
  return (
    <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
      {condition.message}
    </Text>
  );
}

/** So many next times are listed. */
const COUNT = 5;

type Props = { schedule: ScheduleTrigger; status: WorkflowStatus['schedule']; isActive: boolean };

function SchedulePanel({ schedule: { cron, timeZone = 'UTC' }, status, isActive }: Props) {
  const [said, setSaid] = useState<CronDescription>();
  const { last, next } = status ?? {};
  useEffect(() => {
    let isHere = true;
    const read = async (): Promise<void> => {
      const { describeCron } = await import('../../forms/inputs/cron.ts');
      if (isHere) setSaid(describeCron(cron, timeZone, Date.now(), COUNT));
    };
    void read();
    return () => {
      isHere = false;
    };
    // After each run the next times change.
  }, [cron, timeZone, next]);
  if (said === undefined) return <Skeleton height={80} />;
  if (!said.ok)
    return (
      <Text size="sm">
        {isActive && 'Nothing is scheduled. '}
        {said.message}
      </Text>
    );
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {said.words} ({timeZone})
      </Text>
      {isActive && next === undefined && <Text size="sm">Nothing is scheduled yet.</Text>}
      <Text size="xs" c="dimmed">
        {isActive
          ? next === undefined
            ? 'Next runs once it is live'
            : 'Next runs'
          : 'Next runs when active'}
      </Text>
      <List size="sm" aria-label="Next times">
        {said.times.map((time) => (
          <List.Item key={time}>{timeIn(time, timeZone)}</List.Item>
        ))}
      </List>
      <Text size="xs" c="dimmed">
        {last === undefined ? 'No run started yet.' : `Last: ${ago(last, Date.now())} (${fullTime(last)})`}
      </Text>
    </Stack>
  );
}

function timeIn(time: number, timeZone: string): string {
  return new Date(time).toLocaleString('en-GB', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  });
}
