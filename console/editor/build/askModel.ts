/**
 * Asks the model of a credential, as a test run of a workflow with one agent in the runner of the project:
 * the browser has no key, and no other program gets one. Rights, budgets, network policies and records are
 * those of test runs (decision 57).
 */
import { LABEL } from '../../../api/group.ts';
import { isTerminal } from '../../../api/phase.ts';
import type { RunView } from '../../../api/runView.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { callJson, isPassing } from '../../http/call.ts';
import { ApiFailure } from '../../http/failure.ts';
import { runPath } from '../../runs/live/runAt.ts';
import { cancelRun } from '../../runs/live/runRequests.ts';
import { startDraftRun } from '../run/draftRun.ts';
import type { BuildPrompt } from './buildPrompt.ts';

/** Which model is asked, and for which workflow. */
export type BuildModel = {
  namespace: string;
  workflow: string;
  credential: string;
  model: string;
  /** The budget of the workflow, which its requests are charged to. */
  budget: WorkflowSpec['budget'];
  requestedBy: string | undefined;
};

const EVERY_MS = 400;
/** A run waits for a runner, too, which may sleep. */
const LONGEST_MS = 300_000;

// No node of a workflow should have these names: the editor shows the last output of a node by its name.
const REQUEST = 'help_me_build_request';
const ANSWER = 'help_me_build_answer';

/** The workflow that asks. The texts are its event, so that nothing in them is read as a reference. */
export function askingSpec({ credential, model, budget }: BuildModel): WorkflowSpec {
  const valueOf = (member: string) => `{{ $('${REQUEST}').data_content.${member} }}`;
  const agent = {
    credential,
    model: model.replaceAll('{{', ''),
    systemPrompt: valueOf('instructions'),
    prompt: valueOf('request'),
    maxSteps: 1,
  };
  return {
    active: false,
    displayName: 'Help me build',
    timeout: '4m',
    ...(budget && { budget }),
    nodes: [
      { id: REQUEST, manual: {} },
      { id: ANSWER, agent, timeout: '3m' },
    ],
  };
}

/**
 * The text of the answer. Throws an ApiFailure that says why there is none; an AbortError, and cancels the
 * run, if the signal is aborted.
 */
export async function askModel(model: BuildModel, prompt: BuildPrompt, signal: AbortSignal): Promise<string> {
  const { namespace, workflow, requestedBy } = model;
  const labels = { [LABEL.helpMeBuild]: 'true' };
  const asking = { workflow, spec: askingSpec(model), event: prompt, isOutput: false, requestedBy, labels };
  const at = { namespace, workflow, run: await startDraftRun(namespace, asking, signal) };
  const cancel = (): void => void cancelRun(at).catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return answerOf(await endOf(at, signal));
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

async function endOf(at: Parameters<typeof runPath>[0], signal: AbortSignal): Promise<RunView> {
  const deadline = Date.now() + LONGEST_MS;
  while (Date.now() < deadline) {
    const view = await viewOf(at, signal);
    if (view !== undefined && isTerminal(view.phase)) return view;
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    signal.throwIfAborted();
  }
  await cancelRun(at).catch(() => undefined);
  throw failure('The model did not answer in time', 'The request was cancelled after 5 minutes. Try again.');
}

/** Undefined: a failure that can pass. */
async function viewOf(at: Parameters<typeof runPath>[0], signal: AbortSignal): Promise<RunView | undefined> {
  try {
    return await callJson<RunView>(runPath(at), { signal });
  } catch (error) {
    if (isPassing(error)) return undefined;
    throw error;
  }
}

/** The text that the model wrote. */
export function answerOf(run: RunView): string {
  const node = run.nodes.find(({ id }) => id === ANSWER);
  if (run.phase !== 'Succeeded') throw failureOf(run, node);
  if (node?.redacted === true)
    throw failure('The answer is withheld', 'The project records no outputs of this workflow.');
  if (node?.truncated === true) throw failure('The answer is too long', ADVICE);
  const text = node?.output?.text_content ?? '';
  if (text.trim() === '') throw failure('The answer is empty', ADVICE);
  return text;
}

function failureOf(
  { phase, reason, message }: RunView,
  node: RunView['nodes'][number] | undefined,
): ApiFailure {
  const why = node?.reason ?? reason ?? phase;
  const told = withoutTitle(node?.message ?? message);
  const detail = told === undefined ? ADVICE : [sentence(told), STEPS[why]].filter(Boolean).join(' ');
  return failure(TITLES[why] ?? 'The model was not asked', detail);
}

const ADVICE = 'Try again, describe less at once, or choose another model.';

const SERVER_FAILED = "The model's server failed";

const TITLES: Partial<Record<string, string>> = {
  Refused: 'The provider refused the request',
  CredentialRejected: 'The provider refused the credential',
  RateLimited: 'The provider limits the rate of requests',
  UpstreamError: SERVER_FAILED,
  Unreachable: 'The provider cannot be reached',
  Timeout: 'The model did not answer in time',
  InvalidAnswer: 'The answer cannot be read',
  OutputTooLarge: 'The answer is too long',
  BudgetExceeded: 'The budget is used up',
};

/** What to do about a failure that trying again does not end. */
const STEPS: Partial<Record<string, string>> = {
  CredentialRejected: 'Replace the key of the credential, or choose another credential.',
  RateLimited: 'Try again in a minute.',
  UpstreamError: 'Try again, or choose another model.',
  Unreachable: 'Check the address in the credential, and try again.',
};

/** The title says it already. */
function withoutTitle(message: string | undefined): string | undefined {
  const title = `${SERVER_FAILED}: `;
  return message?.toLowerCase().startsWith(title.toLowerCase()) ? message.slice(title.length) : message;
}

/** Messages of nodes begin in lower case and have no full stop, as they are parts of log lines. */
function sentence(text: string): string {
  const ended = /[.!?]$/.test(text) ? text : `${text}.`;
  return `${ended.slice(0, 1).toUpperCase()}${ended.slice(1)}`;
}

function failure(title: string, detail: string): ApiFailure {
  return new ApiFailure({ status: -1, title, detail, reason: 'no-answer' });
}
