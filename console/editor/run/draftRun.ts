/** Starts a test run of the draft, without publishing it: a WorkflowRun that carries the draft. */
import { splitExact } from '../../../api/exact/exactNumber.ts';
import type { Mock } from '../../../api/mock.ts';
import { MAX_USER_NAME } from '../../../api/person.ts';
import { isTerminal } from '../../../api/phase.ts';
import type { RunView } from '../../../api/runView.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { callJson, isPassing } from '../../http/call.ts';
import { ApiFailure } from '../../http/failure.ts';
import { createObject, patchObject } from '../../kube/objects.ts';
import { RUNS, type RunObject } from '../../kube/resources.ts';
import { runPath, type RunAt } from '../../runs/live/runAt.ts';
import { newRunName } from '../../runs/retry.ts';
import { runRefused } from './refused.ts';

export type DraftRun = {
  workflow: string;
  spec: WorkflowSpec;
  /** The trigger's output; for manual triggers its data only. */
  event: object;
  isOutput: boolean;
  /** The last node to run. */
  until?: string | undefined;
  /** Outputs in place of executing their nodes. All other nodes are executed. */
  mocks?: readonly Mock[] | undefined;
  /** The signed-in user. */
  requestedBy?: string | undefined;
  labels?: Record<string, string>;
};

/** The spec of the run. */
export function draftRunSpec(run: DraftRun): RunObject['spec'] {
  const { spec, event, isOutput } = run;
  const output: { text_content?: string; data_content?: unknown } = isOutput
    ? event
    : { data_content: event };
  const { data, exact } = splitExact(output.data_content ?? null);
  const input = { text_content: output.text_content ?? '', data_content: data, ...(exact && { exact }) };
  return { ...testRunSpec(run), draft: withoutSwitches(spec), input };
}

/** The spec of a run that listens for its event; without `spec`, at the webhook that is published. */
export function listeningRunSpec(
  run: Omit<DraftRun, 'spec' | 'event' | 'isOutput'> & { spec?: WorkflowSpec | undefined },
  listenFor: string,
): RunObject['spec'] {
  return { ...testRunSpec(run), listenFor, ...(run.spec && { draft: withoutSwitches(run.spec) }) };
}

function withoutSwitches({
  active: _active,
  suspend: _suspend,
  ...draft
}: WorkflowSpec): Omit<WorkflowSpec, 'active' | 'suspend'> {
  return draft;
}

function testRunSpec({
  workflow,
  until,
  mocks,
  requestedBy,
}: Pick<DraftRun, 'workflow' | 'until' | 'mocks' | 'requestedBy'>): RunObject['spec'] {
  return {
    workflow,
    test: true,
    ...(until !== undefined && { until }),
    ...(mocks !== undefined && { mocks: [...mocks], unmocked: 'Execute' as const }),
    // The API server refuses longer names.
    ...(requestedBy !== undefined && requestedBy.length <= MAX_USER_NAME && { requestedBy }),
  };
}

const TRIES = 3;
const EVERY_MS = 150;
/** For this long the dialog waits for the start. Later the run itself shows what it waits for. */
const LONGEST_MS = 15_000;

/**
 * Creates the run, waits until it is accepted, and returns its name. If the signal is aborted before, the run
 * is cancelled. Throws an ApiFailure if the API server refuses the draft, or the run fails before it starts.
 */
export async function startDraftRun(namespace: string, run: DraftRun, signal: AbortSignal): Promise<string> {
  const name = newRunName(run.workflow, { id: crypto.randomUUID(), at: Date.now() });
  try {
    const metadata = { name, namespace, ...(run.labels && { labels: run.labels }) };
    await createOnce({ metadata, spec: draftRunSpec(run) }, signal);
    await untilAccepted({ namespace, workflow: run.workflow, run: name }, run.spec, signal);
    return name;
  } catch (error) {
    // Not deleted: what it may have done already stays in its record.
    if (signal.aborted)
      await patchObject(RUNS, { namespace, name }, { spec: { cancel: true } }).catch(() => undefined);
    throw error;
  }
}

/** Repeats the request after a lost response: the name makes it one run. */
export async function createOnce(
  run: Pick<RunObject, 'metadata' | 'spec'>,
  signal: AbortSignal,
): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    try {
      await createObject(RUNS, run.metadata.namespace ?? '', run, { signal });
      return;
    } catch (error) {
      if (tried > 1 && error instanceof ApiFailure && error.reason === 'AlreadyExists') return;
      if (tried >= TRIES || !isPassing(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 400 * tried));
    }
  }
}

async function untilAccepted(at: RunAt, spec: WorkflowSpec, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + LONGEST_MS;
  while (Date.now() < deadline) {
    const { phase, acceptedTime, startTime, message } = await callJson<RunView>(runPath(at), { signal });
    if (acceptedTime !== undefined) return;
    if (isTerminal(phase) && startTime === undefined)
      throw runRefused(
        { title: 'The draft cannot run', reason: 'draft-refused', message: message ?? '' },
        spec,
      );
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    signal.throwIfAborted();
  }
}
