/** Retries the runs of a group of failures: what will happen, progress, and what could not be retried. */
import { Alert, Button, Group, List, Modal, Progress, Radio, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type ReactNode } from 'react';
import { schemas } from 'windlass:schemas';
import { CLOSED } from '../../api/access.ts';
import { eachAtOnce } from '../http/eachAtOnce.ts';
import { failureFrom } from '../http/failure.ts';
import { useObject } from '../kube/hooks.ts';
import { WORKFLOWS, type WorkflowObject } from '../kube/resources.ts';
import {
  planRetries,
  readRetries,
  requestOf,
  retryOne,
  type RetryFrom,
  type RetryPlan,
} from '../runs/retryAll.ts';
import { retryEffects } from '../runs/retryEffects.ts';
import { named, nodeNamesOf } from '../workflows/nodeNames.ts';
import { sessionQuery, userNameOf } from '../session/session.ts';
import { FailureNote } from '../ui/FailureNote.tsx';
import { count } from '../ui/format.ts';
import { TextLink } from '../ui/links.tsx';
import type { FailureGroup } from './failureGroups.ts';

/** How many retries are requested at the same time. */
const AT_ONCE = 4;

type Props = { group: FailureGroup; project: string; title: string; onClose: () => void };
type Problem = { run: string; text: string };
type Progressed = { done: number; problems: Problem[]; hasEnded: boolean };

export function RetryGroup({ group, project, title, onClose }: Props) {
  const { workflow, runs } = group;
  const { data: object } = useObject(WORKFLOWS, project, workflow, { mayBeMissing: true });
  const [from, setFrom] = useState<RetryFrom>(group.cause.node === undefined ? 'start' : 'failed node');
  const plan = useQuery({
    queryKey: ['retry plan', project, group.key, runs.length],
    // Somebody may have retried some of the runs since.
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    queryFn: async ({ signal }) =>
      planRetries(
        runs.map(({ run, endedAt, acceptedAt }) => ({ run, endedAt: endedAt ?? acceptedAt })),
        await readRetries(project, workflow, signal),
      ),
  });
  const { progress, begin, stop } = useRetries(project, workflow, from);
  const close = (): void => {
    stop();
    onClose();
  };
  return (
    <Modal
      opened
      onClose={close}
      size="lg"
      title={`Retry failed runs of "${title}"`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {plan.error !== null ? (
        <FailureNote error={plan.error} onRetry={() => void plan.refetch()} />
      ) : plan.data === undefined || object === undefined ? (
        <Skeleton h={120} />
      ) : progress === undefined ? (
        <Question
          {...{ group, object, from, setFrom }}
          plan={plan.data}
          onCancel={close}
          onStart={() => void begin(plan.data)}
        />
      ) : (
        <Result {...{ project, workflow, progress, close }} total={plan.data.chosen.length} />
      )}
    </Modal>
  );
}

type QuestionProps = {
  group: FailureGroup;
  object: WorkflowObject | null;
  plan: RetryPlan;
  from: RetryFrom;
  setFrom: (from: RetryFrom) => void;
  onCancel: () => void;
  onStart: () => void;
};

function Question({ group, object, plan, from, setFrom, onCancel, onStart }: QuestionProps) {
  const { chosen, retried, left } = plan;
  const refusal = refusalOf(object, chosen.length);
  return (
    <Stack>
      <Text size="sm">
        {count(chosen.length, 'run')} will be retried{chosen.length > 1 && ', the oldest first'}.
        {retried > 0 && ` ${count(retried, 'run')} already retried: left out.`}
        {left > 0 && ` ${left.toLocaleString('en')} more are left for another time.`}
      </Text>
      <Radio.Group label="Where the new runs begin" value={from} onChange={(next) => setFrom(next)}>
        <Stack gap={6} mt={6}>
          <Radio
            size="xs"
            value="failed node"
            disabled={group.cause.node === undefined}
            label="From the failed node: outputs of nodes that succeeded are kept, same version"
          />
          <Radio
            size="xs"
            value="start"
            label="From the start: same input, current version; effects happen again"
          />
        </Stack>
      </Radio.Group>
      {object !== null && refusal === undefined && (
        <Effects object={object} failed={from === 'start' ? undefined : group.cause.node} />
      )}
      {refusal !== undefined && (
        <Text size="sm" role="status">
          {refusal}
        </Text>
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button disabled={refusal !== undefined} onClick={onStart}>
          Retry {count(chosen.length, 'run')}
        </Button>
      </Group>
    </Stack>
  );
}

/** Why nothing can be retried, and what to do. */
function refusalOf(object: WorkflowObject | null, chosen: number): string | undefined {
  if (object === null) return 'Cannot retry: the workflow no longer exists.';
  if (object.spec.suspend === true) return 'Cannot retry while the workflow is suspended. Resume it first.';
  if (!object.spec.active)
    return 'Cannot retry while the workflow is inactive. Activate it first, or retry single runs as test runs.';
  if (object.status?.access === CLOSED)
    return 'Cannot retry: confirm that the webhook of the workflow is public, or choose an authentication.';
  return chosen === 0 ? 'Nothing to do: each of these runs was retried.' : undefined;
}

const effectOfSkill = (name: string): string | undefined =>
  schemas.skills.find((skill) => skill.name === name)?.effect;

function Effects({ object, failed }: { object: WorkflowObject; failed: string | undefined }) {
  const { repeated, once } = retryEffects(object.spec, effectOfSkill, failed);
  if (repeated.length === 0)
    return <Text size="sm">The nodes that are executed again have no effect outside of their runs.</Text>;
  const isFromStart = failed === undefined;
  const names = nodeNamesOf(object.spec.nodes);
  const listed = (ids: readonly string[]): string => ids.map((id) => named(names, id)).join(', ');
  const again = isFromStart ? repeated : repeated.filter((id) => !once.includes(id));
  return (
    <Alert color="yellow" variant="light" p="sm" style={{ overflowWrap: 'anywhere' }}>
      <Stack gap="xs">
        {again.length > 0 && (
          <Effect title={`Effects happen again at ${again.length === 1 ? 'node' : 'nodes'} ${listed(again)}`}>
            Each new run repeats what {again.length === 1 ? 'this node does' : 'these nodes do'} outside of
            Windlass, such as sending a message.
          </Effect>
        )}
        {once.length > 0 && (
          <Effect title={`At most once: ${listed(once)}`}>
            {isFromStart
              ? 'If the effect happened before the failure, for example an email was sent, it happens twice.'
              : 'Runs in which the effect may have happened are not retried. You decide for each of them in the list that follows.'}
          </Effect>
        )}
      </Stack>
    </Alert>
  );
}

function Effect({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <Text size="sm">{children}</Text>
    </div>
  );
}

type ResultProps = {
  project: string;
  workflow: string;
  progress: Progressed;
  total: number;
  close: () => void;
};

function Result({ project, workflow, progress, total, close }: ResultProps) {
  const { done, problems, hasEnded } = progress;
  const started = done - problems.length;
  return (
    <Stack>
      <Text size="sm" role="status">
        {hasEnded
          ? `${count(started, 'retry', 'retries')} started${problems.length > 0 ? `, ${problems.length.toLocaleString('en')} not` : ''}.`
          : `${done.toLocaleString('en')} of ${count(total, 'run')}…`}
      </Text>
      <Progress value={total === 0 ? 100 : (done / total) * 100} aria-label="Progress of the retries" />
      {problems.length > 0 && (
        <List size="sm" aria-label="Runs that were not retried">
          {problems.map(({ run, text }) => (
            <List.Item key={run} style={{ overflowWrap: 'anywhere' }}>
              <TextLink to="/p/$project/runs/$run" params={{ project, run }} search={{ workflow }} size="sm">
                {run}
              </TextLink>
              : {text}
            </List.Item>
          ))}
        </List>
      )}
      <Group justify="flex-end">
        <Button variant={hasEnded ? 'filled' : 'default'} onClick={close}>
          {hasEnded ? 'Close' : 'Stop'}
        </Button>
      </Group>
    </Stack>
  );
}

/** Requests the retries. Those that were not requested when it is stopped are left out. */
function useRetries(namespace: string, workflow: string, from: RetryFrom) {
  const client = useQueryClient();
  const { data: session } = useQuery(sessionQuery);
  const [progress, setProgress] = useState<Progressed>();
  const stopping = useRef(new AbortController());
  const begin = async ({ chosen }: RetryPlan): Promise<void> => {
    setProgress({ done: 0, problems: [], hasEnded: false });
    const requestedBy = userNameOf(session);
    await eachAtOnce(chosen, { atOnce: AT_ONCE, signal: stopping.current.signal }, async (each) => {
      const at = { namespace, workflow, run: each.run };
      const problem = await retryOne(at, { from, sent: requestOf(each), requestedBy }).then(
        () => [],
        (error: unknown) => [{ run: each.run, text: textOf(error) }],
      );
      setProgress(
        (before) =>
          before && { ...before, done: before.done + 1, problems: [...before.problems, ...problem] },
      );
    });
    setProgress((before) => before && { ...before, hasEnded: true });
    await client.invalidateQueries({ queryKey: ['overview', namespace] });
  };
  return { progress, begin, stop: () => stopping.current.abort() };
}

function textOf(error: unknown): string {
  const { title, detail } = failureFrom(error);
  return `${title}. ${detail}`;
}
