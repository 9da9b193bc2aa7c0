/**
 * The button that continues a failed run from its failed node, and the dialog that asks what happened to
 * effects whose outcome is unknown.
 */
import { Button, Group, JsonInput, Modal, Radio, Stack, Text } from '@mantine/core';
import { IconPlayerTrackNext } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { schemas } from 'windlass:schemas';
import { useMay } from '../kube/access.ts';
import { RUNS, WORKFLOWS } from '../kube/resources.ts';
import { notifyFailure, notifySuccess } from '../ui/notify.tsx';
import type { RunAt } from './live/follow.ts';
import type { NodeView, RunHead } from './live/nodeView.ts';
import { decisionsOf, isOutput, resumeRun, undecidedNodes, type Decision, type Entered } from './resume.ts';

type Props = { at: RunAt; run: RunHead; nodes: ReadonlyMap<string, NodeView> };

export function ResumeButton({ at, run, nodes }: Props) {
  const { namespace } = at;
  const navigate = useNavigate();
  const [isBusy, setBusy] = useState(false);
  const [isAsked, setAsked] = useState(false);
  const mayRun = useMay(
    { verb: 'create', resource: RUNS, namespace },
    { verb: 'create', resource: WORKFLOWS, subresource: 'execute', namespace, name: at.workflow },
  );
  const undecided = undecidedNodes(run, nodes);
  if (!mayRun || undecided === undefined || !schemas.runFields.includes('resume')) return null;
  const resume = async (decisions: readonly Decision[]): Promise<void> => {
    setBusy(true);
    try {
      const name = await resumeRun(at, decisions);
      setAsked(false);
      notifySuccess(`Started ${name}`);
      await navigate({
        to: '/p/$project/runs/$run',
        params: { project: namespace, run: name },
        search: { workflow: at.workflow },
      });
    } catch (error) {
      notifyFailure('Could not continue the run', error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconPlayerTrackNext size={14} />}
        loading={isBusy}
        onClick={() => (undecided.length === 0 ? void resume([]) : setAsked(true))}
      >
        Retry from failed node
      </Button>
      <Modal opened={isAsked} onClose={() => setAsked(false)} title="Did the effect happen?" size="lg">
        <Decisions
          ids={undecided}
          isBusy={isBusy}
          onCancel={() => setAsked(false)}
          onDecide={(decisions) => void resume(decisions)}
        />
      </Modal>
    </>
  );
}

type DecisionsProps = {
  ids: readonly string[];
  isBusy: boolean;
  onCancel: () => void;
  onDecide: (decisions: Decision[]) => void;
};

function Decisions({ ids, isBusy, onCancel, onDecide }: DecisionsProps) {
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
                <Radio size="xs" value="AssumeDone" label="It happened: continue after the node" />
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
