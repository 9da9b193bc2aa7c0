/** Asks what a test run is started with, and starts it: saves first what was changed, and waits until just that would run. */
import { Alert, Button, Checkbox, Group, Loader, Modal, Skeleton, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconHistory, IconPlayerPlay } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import type { TriggerKind } from '../../../api/trigger.ts';
import { FailureNote } from '../../shell/FailureNote.tsx';
import { useReturnFocus } from '../../shell/useReturnFocus.ts';
import { tellDone, tellFailure } from '../../shell/tell.ts';
import { liveChanges } from '../live/changes.ts';
import { triggerOf, updateNode } from '../model.ts';
import { useEditor, useEditorPart } from '../store.ts';
import { lastRealEvent } from './lastOutputs.ts';
import {
  asTestData,
  prefilled,
  readTestData,
  testDataOf,
  triggerKind,
  withTestData,
  type ReadTestData,
} from './testData.ts';
import { dropTestRun, startTestRun } from './testRun.ts';
import { untilServed } from './untilServed.ts';
import classes from './TestDialog.module.css';

const JsonCode = lazy(async () => ({ default: (await import('../../runs/JsonCode.tsx')).JsonCode }));

const WARNED = 'windlass.testRunWarning';

/** The dialog. `until`: the run goes only as far as that node. */
export function TestDialog({ until }: { until: string | undefined }) {
  useReturnFocus();
  const isAskingLive = useEditorPart((state) => state.isAskingLive);
  return (
    <Modal
      opened
      onClose={dropTestRun}
      closeOnEscape={!isAskingLive}
      title={until === undefined ? 'Test run' : `Test run as far as ${until}`}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <TestForm until={until} />
    </Modal>
  );
}

function TestForm({ until }: { until: string | undefined }) {
  const { draft, isReadOnly, mode } = useEditor();
  const trigger = triggerOf(draft);
  const kind = triggerKind(trigger);
  const [text, setText] = useTestData();
  const [isKept, setKept] = useState(false);
  const { start, stop, step, error } = useStart(until);
  const read = readTestData(kind, text);
  const mayChange = !isReadOnly && mode === 'edit';
  const run = (): void => {
    if (read.ok && step === undefined) void start(read.value, isKept);
  };
  return (
    <Stack
      gap="sm"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        event.stopPropagation();
        run();
      }}
    >
      <Warning />
      <EventField kind={kind} text={text} onChange={setText} read={read} />
      {mayChange && (
        <Checkbox
          size="xs"
          label="Save as test data of the workflow"
          checked={isKept}
          onChange={(event) => setKept(event.currentTarget.checked)}
        />
      )}
      <SavingNote mayChange={mayChange} />
      {error !== undefined && <FailureNote title="The test run was not started" error={error} />}
      <Group justify="flex-end" gap="xs" className={classes['footer'] ?? ''}>
        {step !== undefined && (
          <Group gap={8} mr="auto" role="status" wrap="nowrap">
            <Loader size={14} />
            <Text size="sm">{step}</Text>
          </Group>
        )}
        <Button variant="default" onClick={step === undefined ? dropTestRun : stop}>
          {step === undefined ? 'Close' : 'Stop'}
        </Button>
        <Button
          leftSection={<IconPlayerPlay size={14} />}
          disabled={!read.ok || step !== undefined}
          onClick={run}
        >
          {until === undefined ? 'Run' : 'Run to here'}
        </Button>
      </Group>
    </Stack>
  );
}

/** The text of the test data. The last real event takes the place of an example that nobody has changed. */
function useTestData(): [string, (text: string) => void] {
  const { draft, namespace, name } = useEditor();
  const [trigger] = useState(() => triggerOf(draft));
  const [example] = useState(() => JSON.stringify(testDataOf(trigger), null, 2));
  const [text, setText] = useState(example);
  useEffect(() => {
    if (prefilled(trigger, undefined) !== undefined) return undefined;
    let isOpen = true;
    const fill = async (): Promise<void> => {
      // Without the event the example stays.
      const real = await lastRealEvent(namespace, name, trigger?.id ?? '').catch(() => undefined);
      const event = prefilled(trigger, real);
      if (!isOpen || event === undefined) return;
      setText((shown) => (shown === example ? JSON.stringify(event, null, 2) : shown));
    };
    void fill();
    return () => {
      isOpen = false;
    };
  }, [trigger, namespace, name, example]);
  return [text, setText];
}

/** Said once in a browser. */
function Warning() {
  const [isWarned] = useState(() => localStorage.getItem(WARNED) !== null);
  if (isWarned) return null;
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<IconAlertTriangle />}
      title="The effects of a test run are real"
    >
      Mails are sent, requests are made, models are asked. Use addresses and data that may be used. This note
      comes only once.
    </Alert>
  );
}

function SavingNote({ mayChange }: { mayChange: boolean }) {
  const { isDirty, saved, draft } = useEditor();
  if (!isDirty) return null;
  if (mayChange && liveChanges(saved, draft).length > 0)
    return (
      <Alert color="yellow" variant="light" icon={<IconAlertTriangle />} title="This workflow is active">
        A test run executes what is saved. Your changes are saved first and go live: the next event runs them,
        too. You see the changes before you confirm.
      </Alert>
    );
  return (
    <Text size="xs" c="dimmed">
      {mayChange
        ? 'Your changes are saved first.'
        : 'Your changes are not saved: the workflow runs without them.'}
    </Text>
  );
}

type EventProps = { kind: TriggerKind; text: string; onChange: (text: string) => void; read: ReadTestData };

/** The event, with what was typed wrong. */
function EventField({ kind, text, onChange, read }: EventProps) {
  const { draft, namespace, name } = useEditor();
  const takeReal = async (): Promise<void> => {
    try {
      const real = await lastRealEvent(namespace, name, triggerOf(draft)?.id ?? '');
      if (real === undefined) return tellDone('There is no run yet that a real event has started.');
      onChange(JSON.stringify(asTestData(kind, real.output), null, 2));
      tellDone(`This is what started ${real.run}${real.truncated ? ', as far as it is kept' : ''}.`);
    } catch (failure) {
      tellFailure('The last event was not read', failure);
    }
  };
  const hint =
    kind === 'manual'
      ? 'The object becomes data_content of the trigger.'
      : 'text_content is a text, data_content any JSON value; nodes refer to both.';
  return (
    <>
      <Group justify="space-between" align="center" wrap="wrap" gap="xs">
        <Text size="sm">
          {kind === 'manual' ? 'What the workflow is started with' : `What the ${kind} trigger produces`}
        </Text>
        <Button variant="default" leftSection={<IconHistory size={14} />} onClick={() => void takeReal()}>
          Use last real event
        </Button>
      </Group>
      <Suspense fallback={<Skeleton h={260} />}>
        <JsonCode value={text} onChange={onChange} label="Test data" height={260} />
      </Suspense>
      <Text size="xs" c={read.ok ? 'dimmed' : 'red'} role={read.ok ? undefined : 'alert'}>
        {read.ok ? hint : read.message}
      </Text>
    </>
  );
}

type Starting = {
  start: (event: object, isKept: boolean) => Promise<void>;
  stop: () => void;
  /** What is being done. */
  step: string | undefined;
  error: unknown;
};

function useStart(until: string | undefined): Starting {
  const { draft, namespace, name, isReadOnly, isDirty, mode, apply, save } = useEditor();
  const navigate = useNavigate();
  const [step, setStep] = useState<string>();
  const [error, setError] = useState<unknown>();
  const abort = useRef<AbortController>(undefined);
  const trigger = triggerOf(draft);

  const run = async (event: object, isKept: boolean, signal: AbortSignal): Promise<string | undefined> => {
    const mayChange = !isReadOnly && mode === 'edit';
    if (isKept && mayChange && trigger !== undefined)
      apply((before) => updateNode(before, trigger.id, (node) => withTestData(node, event)));
    if (mayChange && (isDirty || isKept)) {
      setStep('Saving…');
      // What went wrong is told, or asked, by whoever saves.
      if (!(await save())) return undefined;
    }
    setStep('Waiting until the change is in effect…');
    const onWait = (why: string): void => setStep(`Waiting: ${why}`);
    await untilServed({ namespace, name }, { signal, onWait });
    setStep('Starting…');
    const isOutput = triggerKind(trigger) !== 'manual';
    const asked = { namespace, workflow: name, event, isOutput, ...(until !== undefined && { until }) };
    return startTestRun(asked, signal);
  };

  const start = async (event: object, isKept: boolean): Promise<void> => {
    const own = new AbortController();
    abort.current = own;
    setError(undefined);
    setStep('Looking…');
    try {
      const started = await run(event, isKept, own.signal);
      if (started === undefined) return;
      localStorage.setItem(WARNED, 'seen');
      dropTestRun();
      await navigate({
        to: '/p/$project/workflows/$workflow',
        params: { project: namespace, workflow: name },
        search: { run: started },
      });
    } catch (failure) {
      if (!own.signal.aborted) setError(failure);
    } finally {
      setStep(undefined);
    }
  };
  return { start, stop: () => abort.current?.abort(), step, error };
}
