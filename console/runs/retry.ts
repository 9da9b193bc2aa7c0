/**
 * Retries of runs: whether the record has the input, by the rules of the operator, and the creation of the
 * new run.
 */
import { ANNOTATION } from '../../api/group.ts';
import { RUNS, type RunObject } from '../kube/resources.ts';
import { MAX_USER_NAME } from '../../api/person.ts';
import { createObject } from '../kube/objects.ts';
import { ApiFailure } from '../http/failure.ts';
import type { StartRequest } from './startRequests.ts';
import type { Decision } from './resume.ts';

/** Why the run cannot be retried; undefined: it can. */
export function retryProblem({ metadata, spec, status }: RunObject): string | undefined {
  if (spec.inputTruncated !== true) return undefined;
  if (spec.inputRedacted !== true) return 'the recorded input is truncated.';
  const hadMore = metadata.annotations?.[ANNOTATION.partialInput] === 'true';
  // Records list the trigger first. The output of the trigger is the input of a failed run.
  const [trigger] = status?.nodes ?? [];
  const isShown = !hadMore && trigger?.output !== undefined && trigger.truncated !== true;
  return isShown ? undefined : 'the workflow does not record inputs.';
}

type RetryRequest = {
  namespace: string;
  workflow: string;
  /** The run whose input is used. */
  retryOf: string;
  test: boolean;
  /** The model that the retried run tested: the API server asks who may use its credential. */
  model?: RunObject['spec']['model'];
  /** The signed-in user. */
  requestedBy?: string | undefined;
  /** Undefined: the current revision. */
  revision?: string | undefined;
  /** Continues the run from its failed node, with these decisions. Left out: repeats it from the start. */
  decisions?: readonly Decision[];
};

/** Creates the new run, once for each request, and returns its name. */
export async function retryRun(rerun: RetryRequest, request: StartRequest): Promise<string> {
  const { namespace, workflow, retryOf, test, model, revision, decisions, requestedBy } = rerun;
  const name = newRunName(workflow, request);
  const created = createObject(RUNS, namespace, {
    metadata: { name, namespace },
    spec: {
      workflow,
      retryOf,
      ...(test && { test, ...(model && { model }) }),
      ...(revision !== undefined && { revision }),
      ...(decisions && { resume: true, ...(decisions.length > 0 && { decisions: [...decisions] }) }),
      // Names that are too long for a record are left out: the API server would refuse the object.
      ...(requestedBy !== undefined && requestedBy.length <= MAX_USER_NAME && { requestedBy }),
    },
  });
  await created.catch((error: unknown) => {
    // An earlier one of these requests, whose answer was lost, created it.
    if (!(error instanceof ApiFailure && error.reason === 'AlreadyExists')) throw error;
  });
  return name;
}

const SUFFIX = 15;
const LIMIT = 63;

/** A name in the format of the gateway: names of later runs sort later. */
export function newRunName(workflow: string, { id, at }: StartRequest): string {
  const random = String(Number.parseInt(id.replaceAll('-', '').slice(0, 8), 16));
  const suffix = at.toString(36).padStart(9, '0') + random.padStart(6, '0').slice(-6);
  const base = workflow.replaceAll('.', '-').slice(0, LIMIT - SUFFIX - 1);
  return `${base.replace(/-+$/, '')}-${suffix}`;
}
