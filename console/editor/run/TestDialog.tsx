/** The dialog of a test run: of the draft, which stays unpublished, or of what is published. */
import { Alert, Button, Checkbox, Group, Loader, Modal, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useId, useRef, useState } from 'react';
import { specUpTo } from '../../../api/upTo.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { isEqual } from '../../kube/patch.ts';
import { sessionQuery, userNameOf } from '../../session/session.ts';
import { uncapitalized } from '../../ui/format.ts';
import { useReturnFocus } from '../../ui/useReturnFocus.ts';
import { specChanges, type LiveChange } from '../model/changes.ts';
import { filledFields } from '../panel/nodeFields.ts';
import { panelSearch } from '../store/panelSearch.ts';
import { triggerOf, updateNode } from '../model/model.ts';
import { useEditor, useEditorPart, useEditorStore, type EditorState } from '../store/store.ts';
import { useMayCreateRuns, useMayTestDraft } from '../store/rights.ts';
import { readTestData, triggerKind, withTestData } from '../model/testData.ts';
import { nodeName } from '../../workflows/kinds.ts';
import { closeTestDialog, startTestRun, type TestRunRequest } from '../../runs/live/runRequests.ts';
import { startDraftRun } from './draftRun.ts';
import { EventField, useTestData } from './EventField.tsx';
import { useGiven, type Given } from './given.ts';
import { untilEvent, type Listening } from './listening.ts';
import { isInvalid } from './served.ts';
import { StartFailure } from './StartFailure.tsx';
import type { Tested } from './testedPart.ts';
import { untilServed } from './untilServed.ts';
import classes from '../../ui/tallDialog.module.css';

/** Where it cannot be loaded, the draft is taken for one without problems: the operator checks it, too. */
const DraftProblems = lazy(() =>
  import('./DraftProblems.tsx').then(
    (loaded) => ({ default: loaded.DraftProblems }),
    () => ({ default: NoProblems }),
  ),
);

function NoProblems({ onFound }: { onFound: (hasProblems: boolean) => void }) {
  useEffect(() => onFound(false), [onFound]);
  return null;
}

const ListenPanel = lazy(async () => ({ default: (await import('./ListenPanel.tsx')).ListenPanel }));

const WARNED = 'windlass.testRunWarning';

type Request = NonNullable<TestRunRequest>;

export function TestDialog({ request }: { request: Request }) {
  useReturnFocus();
  const isAsking = useEditorPart((state) => state.isAsking);
  const nodes = useEditorPart(({ draft }) => draft.spec.nodes);
  return (
    <Modal
      opened
      onClose={closeTestDialog}
      closeOnEscape={!isAsking}
      title={titleOf(request, nodes)}
      size="lg"
      classNames={{ content: classes['content'] ?? '' }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <TestForm request={request} />
    </Modal>
  );
}

function titleOf({ until, isOnly = false }: Request, nodes: readonly WorkflowNode[]): string {
  if (until === undefined) return 'Test run';
  const name = nodeName(until, nodes);
  return isOnly ? `Test run of ${name} only` : `Test run up to ${name}`;
}

function actionOf({ until, isOnly = false }: Request): string {
  if (until === undefined) return 'Run';
  return isOnly ? 'Run this node' : 'Run to here';
}

function TestForm({ request }: { request: Request }) {
  const { draft } = useEditor();
  const mayTestDraft = useMayTestDraft();
  const trigger = triggerOf(draft);
  const kind = triggerKind(trigger);
  const { text, change, latest, remember } = useTestData();
  const [isKept, setKept] = useState(false);
  const given = useGiven(request);
  const tested = { until: request.until, mocks: given?.mocks };
  const { start, listen, hasListened, stop, step, waiting, error } = useStart(tested, mayTestDraft);
  const read = readTestData(kind, text);
  const { onFound, isChecking, hasProblems, canStart } = useDraftCheck(given, mayTestDraft);
  const { isAskedAgain, begin } = useReadDraft(mayTestDraft);
  const run = (): void => {
    // What was typed last may not be rendered yet.
    const typed = readTestData(kind, latest());
    if (!typed.ok || !canStart || step !== undefined) return;
    begin(() => {
      remember();
      void start(typed.value, isKept);
    });
  };
  const webhook = trigger?.webhook;
  if (waiting && webhook) {
    const example = read.ok ? (read.value as { data_content?: unknown }).data_content : undefined;
    return (
      <Suspense>
        <ListenPanel {...waiting} webhook={webhook} example={example} onStop={stop} />
      </Suspense>
    );
  }
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
      <Problems isKnown={given !== undefined} tested={tested} onFound={onFound} />
      <Warning />
      <AskedAgain isShown={isAskedAgain} />
      <EventField
        kind={kind}
        text={text}
        onChange={change}
        read={read}
        mayListen={listen !== undefined}
        onListen={listen && canStart && step === undefined ? () => begin(listen) : undefined}
        hasListened={hasListened}
      />
      <KeepBox isKept={isKept} onChange={setKept} />
      <DraftNote mayTestDraft={mayTestDraft} />
      <GivenNotes given={given} mayTestDraft={mayTestDraft} />
      {error !== undefined && (
        <div ref={scrollTo}>
          <StartFailure error={error} />
        </div>
      )}
      <Buttons
        step={step}
        action={actionOf(request)}
        isChecking={isChecking}
        hasProblems={hasProblems}
        onStop={stop}
        onRun={read.ok && canStart && step === undefined ? run : undefined}
      />
    </Stack>
  );
}

/** The check of the draft: before its end no run starts. Published versions need none. */
function useDraftCheck(given: Given | undefined, mayTestDraft: boolean) {
  const [found, onFound] = useState<boolean>();
  return {
    onFound,
    isChecking: given === undefined || (mayTestDraft && found === undefined),
    hasProblems: mayTestDraft && found === true,
    canStart:
      given !== undefined &&
      refusalOf(given, mayTestDraft) === undefined &&
      (!mayTestDraft || found === false),
  };
}

/**
 * `begin` starts nothing the first time if a colleague changed the draft since the dialog opened: a run has
 * the rights of this user, who has not read the change.
 */
function useReadDraft(mayTestDraft: boolean) {
  const store = useEditorStore();
  const executed = () => {
    const { spec, pins } = store.get().draft;
    return { spec, pins };
  };
  const read = useRef(executed());
  const [isAskedAgain, setAskedAgain] = useState(false);
  const begin = (start: () => void): void => {
    const isSame = isEqual(read.current, executed());
    setAskedAgain(mayTestDraft && !isSame);
    if (isSame || !mayTestDraft) start();
    // With the test data that the start has just kept.
    read.current = executed();
  };
  return { isAskedAgain, begin };
}

function AskedAgain({ isShown }: { isShown: boolean }) {
  const { saved, draft } = useEditor();
  if (!isShown) return null;
  const isPublished = isEqual(saved.spec, draft.spec);
  return (
    <Alert color="orange" variant="light" py={6} role="alert" icon={<IconAlertTriangle />}>
      {isPublished ? 'The workflow' : 'The draft'} changed while this dialog was open, and nothing is started
      yet. {isPublished ? 'The test run executes its published version.' : 'Check the changes again.'}
    </Alert>
  );
}

type ProblemsProps = {
  /** Whether it is known what the run is given. */
  isKnown: boolean;
  tested: Tested;
  onFound: (hasProblems: boolean) => void;
};

/** Hidden from users whose drafts no test run executes. */
function Problems({ isKnown, tested, onFound }: ProblemsProps) {
  const mayTestDraft = useMayTestDraft();
  if (!mayTestDraft || !isKnown) return null;
  return (
    <Suspense>
      <DraftProblems tested={tested} onFound={onFound} />
    </Suspense>
  );
}

/** On a narrow screen it is below the event. */
function scrollTo(failure: HTMLElement | null): void {
  failure?.scrollIntoView({ block: 'nearest' });
}

/** Hidden from users whose changes of the draft no test run executes. */
function KeepBox({ isKept, onChange }: { isKept: boolean; onChange: (isKept: boolean) => void }) {
  const { isReadOnly, mode } = useEditor();
  const mayTestDraft = useMayTestDraft();
  if (!mayTestDraft || isReadOnly || mode === 'read') return null;
  return (
    <Checkbox
      size="xs"
      label="Save as test data of the workflow"
      checked={isKept}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

type ButtonsProps = {
  /** What the start is at; undefined: nothing is being started. */
  step: string | undefined;
  action: string;
  /** Whether it is not known yet if the run can start. */
  isChecking: boolean;
  /** Whether the problems of the draft keep the run from starting. */
  hasProblems: boolean;
  onStop: () => void;
  /** Left out: the run cannot start now. */
  onRun: (() => void) | undefined;
};

function Buttons({ step, action, isChecking, hasProblems, onStop, onRun }: ButtonsProps) {
  const id = useId();
  const saysCheck = step === undefined && isChecking;
  return (
    <Group
      justify="flex-end"
      gap="xs"
      // On a narrow screen it would be higher than what scrolling leaves for it.
      wrap={hasProblems ? 'nowrap' : 'wrap'}
      className={classes['footer'] ?? ''}
    >
      {step !== undefined && <Working text={step} />}
      {saysCheck && (
        <div id={id} style={{ marginRight: 'auto' }}>
          <Checking />
        </div>
      )}
      {step === undefined && !isChecking && hasProblems && (
        <Text size="xs" mr="auto" id={id}>
          Correct the problems above first.
        </Text>
      )}
      <Button
        variant="default"
        style={{ flexShrink: 0 }}
        onClick={step === undefined ? closeTestDialog : onStop}
      >
        {step === undefined ? 'Cancel' : 'Stop'}
      </Button>
      <Button
        leftSection={<IconPlayerPlay size={14} />}
        onClick={onRun}
        // Not `disabled`, so that it has the focus also while the dialog finds out whether a run can start.
        data-disabled={onRun === undefined || undefined}
        style={{ flexShrink: 0 }}
        aria-disabled={onRun === undefined}
        aria-describedby={saysCheck || hasProblems ? id : undefined}
        data-autofocus
      >
        {action}
      </Button>
    </Group>
  );
}

function Working({ text }: { text: string }) {
  return (
    <Group gap={8} mr="auto" role="status" wrap="nowrap">
      <Loader size={14} />
      <Text size="sm">{text}</Text>
    </Group>
  );
}

/** Most checks end earlier, and what says so would flash. */
const GRACE_MS = 300;

function Checking() {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), GRACE_MS);
    return () => clearTimeout(timer);
  }, []);
  return isShown ? <Working text="Checking the draft…" /> : null;
}

/** Shown once per browser. */
function Warning() {
  const [isWarned] = useState(() => localStorage.getItem(WARNED) !== null);
  if (isWarned) return null;
  return (
    <Alert color="yellow" variant="light" icon={<IconAlertTriangle />} title="Test runs have real effects">
      They send email, make requests and call models. Use addresses and data that are safe to use. This note
      is shown once.
    </Alert>
  );
}

/** Says which version the test run executes, if there are two. */
function DraftNote({ mayTestDraft }: { mayTestDraft: boolean }) {
  const { saved, draft, unreadable } = useEditor();
  if (unreadable !== undefined)
    return <Note>The YAML is invalid: the test run executes the last version that could be read.</Note>;
  if (isEqual(saved.spec, draft.spec)) return null;
  const events = saved.spec.active
    ? 'Events still run the published version.'
    : 'Events start no runs, because the workflow is inactive.';
  if (!mayTestDraft)
    return <Note>The test run executes the published version. You are not allowed to test drafts.</Note>;
  return (
    <>
      <Note>{`The test run executes your draft. ${events}`}</Note>
      {/* Colleagues write the draft, too, and it runs with the rights of whoever tests it. */}
      <Note>{`Compared with the published version: ${changesText(specChanges(saved, draft))}.`}</Note>
    </>
  );
}

/** So many changes are named. */
const NAMED = 12;

function changesText(changes: readonly LiveChange[]): string {
  const named = changes
    .slice(0, NAMED)
    .map(({ kind, what, isNode = false }) => `${isNode ? `"${what}"` : uncapitalized(what)} ${kind}`);
  const more = changes.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** Why the run cannot start with what it is given; undefined if it can. */
function refusalOf({ mocks, problem }: Given, mayTestDraft: boolean): string | undefined {
  if (mocks !== undefined && !mayTestDraft)
    return 'You are not allowed to test drafts, which a test run with given outputs requires.';
  return problem;
}

/** Says which nodes the run does not execute. */
function GivenNotes({ given, mayTestDraft }: { given: Given | undefined; mayTestDraft: boolean }) {
  if (given === undefined) return null;
  const refusal = refusalOf(given, mayTestDraft);
  return (
    <>
      {given.notes.map((note) => (
        <Note key={note}>{note}</Note>
      ))}
      {refusal !== undefined && (
        <Text size="xs" c="red" role="alert">
          {refusal}
        </Text>
      )}
    </>
  );
}

function Note({ children }: { children: string }) {
  return (
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  );
}

/**
 * Whether the run has to carry the draft. What is published and not valid is not served, but may be executed
 * as far as a node.
 */
function executesDraft({ saved, draft, workflow }: EditorState, { until, mocks }: Tested): boolean {
  if (mocks !== undefined || !isEqual(saved.spec, draft.spec)) return true;
  return until !== undefined && isInvalid(workflow);
}

/** What the run executes of the draft. Where the check cannot be loaded, the operator is the only one. */
async function executedSpec(
  { draft: { spec }, problems }: EditorState,
  tested: Tested,
): Promise<WorkflowSpec> {
  const loaded = await import('./testedPart.ts').catch(() => undefined);
  if (loaded === undefined) return specUpTo(spec, tested.until);
  return loaded.testedPart({ spec, problems, fieldsOf: filledFields }, tested).spec;
}

type Starting = {
  start: (event: object, isKept: boolean) => Promise<void>;
  /** Starts with the first real event that comes; undefined where this user, or this trigger, cannot. */
  listen: (() => void) | undefined;
  /** While the run listens; without `listening`, its URL is not open yet. */
  waiting: { listening: Listening | undefined } | undefined;
  /** Whether it has listened before. */
  hasListened: boolean;
  stop: () => void;
  /** The current step. */
  step: string | undefined;
  error: unknown;
};

function useStart({ until, mocks }: Tested, mayTestDraft: boolean): Starting {
  const { draft, namespace, name, panel } = useEditor();
  const store = useEditorStore();
  const navigate = useNavigate();
  const { data: session } = useQuery(sessionQuery);
  const [step, setStep] = useState<string>();
  const [waiting, setWaiting] = useState<{ listening: Listening | undefined }>();
  const [hasListened, setListened] = useState(false);
  const [error, setError] = useState<unknown>();
  const abort = useRef<AbortController>(undefined);
  const trigger = triggerOf(draft);

  const run = async (event: object, isKept: boolean, signal: AbortSignal): Promise<string> => {
    if (isKept && trigger !== undefined)
      store.apply((before) => updateNode(before, trigger.id, (node) => withTestData(node, event)));
    const isOutput = triggerKind(trigger) !== 'manual';
    const asked = { workflow: name, event, isOutput, ...(until !== undefined && { until }) };
    // With the test data that was just kept.
    if (mayTestDraft && executesDraft(store.get(), { until, mocks })) {
      setStep('Starting…');
      const requestedBy = userNameOf(session);
      const spec = await executedSpec(store.get(), { until, mocks });
      signal.throwIfAborted();
      return startDraftRun(namespace, { ...asked, spec, mocks, requestedBy }, signal);
    }
    setStep('Waiting for the published version to take effect…');
    const onWait = (why: string): void => setStep(`Waiting: ${why}`);
    await untilServed({ namespace, name }, { signal, onWait });
    setStep('Starting…');
    return startTestRun({ namespace, ...asked }, signal);
  };

  const listenFor = async (signal: AbortSignal): Promise<string> => {
    setWaiting({ listening: undefined });
    setListened(true);
    const isDraft = mayTestDraft && executesDraft(store.get(), { until, mocks });
    const spec = isDraft ? await executedSpec(store.get(), { until, mocks }) : undefined;
    signal.throwIfAborted();
    const onListening = (listening: Listening): void => setWaiting({ listening });
    const requestedBy = userNameOf(session);
    const asked = { workflow: name, until, mocks, requestedBy, ...(spec && { spec }) };
    return untilEvent(namespace, asked, { signal, onListening });
  };

  const begin = async (by: (signal: AbortSignal) => Promise<string>): Promise<void> => {
    const own = new AbortController();
    abort.current = own;
    setError(undefined);
    try {
      const started = await by(own.signal);
      localStorage.setItem(WARNED, 'seen');
      // Whoever has closed the dialog meanwhile stays where they are.
      if (own.signal.aborted) return;
      closeTestDialog();
      await navigate({
        to: '/p/$project/workflows/$workflow',
        params: { project: namespace, workflow: name },
        search: { run: started, ...panelSearch(panel) },
      });
    } catch (failure) {
      if (!own.signal.aborted) setError(failure);
    } finally {
      setStep(undefined);
      setWaiting(undefined);
    }
  };
  const start = (event: object, isKept: boolean): Promise<void> => {
    setStep('Loading…');
    return begin((signal) => run(event, isKept, signal));
  };
  // Closing the dialog stops the start: nobody would see the run, or the event that it listens for.
  useEffect(() => () => abort.current?.abort(), []);
  const stop = (): void => abort.current?.abort();
  const mayListen = useMayCreateRuns() && trigger?.webhook !== undefined;
  const listen = mayListen ? () => void begin(listenFor) : undefined;
  return { start, listen, hasListened, stop, step, waiting, error };
}
