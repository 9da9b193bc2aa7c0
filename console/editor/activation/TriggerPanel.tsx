/** What the trigger of a workflow does, or will do: its URL, its times, its looks at an account. */
import { Stack, Text } from '@mantine/core';
import { isEnabled } from '../../../api/access.ts';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { readyOf, type Condition } from '../../credentials/ready.ts';
import type { WorkflowObject } from '../../kube/resources.ts';
import { isTrigger, kindLabel, nodeKind } from '../../workflows/kinds.ts';
import { PollPanel } from './PollPanel.tsx';
import { DEFAULT_INTERVAL_SECONDS } from './poll.ts';
import { SchedulePanel } from './SchedulePanel.tsx';
import { WebhookPanel } from './WebhookPanel.tsx';
import { isOfTrigger, whatItWillDo } from './words.ts';

export function TriggerPanel({ workflow }: { workflow: WorkflowObject }) {
  const trigger = workflow.spec.nodes.find(isTrigger);
  const kind = trigger && nodeKind(trigger);
  if (trigger === undefined || kind === undefined || !isOfTrigger(kind)) return null;
  const isActive = isEnabled(workflow.spec);
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        {kindLabel(kind)}
      </Text>
      {!isActive && (
        <Text size="sm" c="dimmed">
          {whatItWillDo(kind, workflow.spec)}
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

/** What the operator says of the clock, or of the account. */
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
