/** Whether a recorded run can be run again with its input: the operator takes it from the record, by the same rules. Pure. */
import { ANNOTATION } from '../../api/group.ts';
import { RUNS, type RunObject } from '../kube/resources.ts';
import { MAX_USER_NAME } from '../../api/person.ts';
import { createObject } from '../kube/objects.ts';

/** Why it cannot; undefined: it can. */
export function repeatProblem({ metadata, spec, status }: RunObject): string | undefined {
  if (spec.inputTruncated !== true) return undefined;
  if (spec.inputRedacted !== true) return 'the recorded input is truncated.';
  const hadMore = metadata.annotations?.[ANNOTATION.partialInput] === 'true';
  // Records list the trigger first. Of a failed run its output is the input.
  const [trigger] = status?.nodes ?? [];
  const isShown = !hadMore && trigger?.output !== undefined && trigger.truncated !== true;
  return isShown ? undefined : 'the workflow does not record inputs.';
}

/** Running again: a new run with the input of another, of today's workflow or of the revision that ran. */
type Rerun = {
  namespace: string;
  workflow: string;
  /** The run whose input is taken. */
  retryOf: string;
  test: boolean;
  /** Who is signed in. */
  requestedBy?: string | undefined;
  /** Left out: today's. */
  revision?: string | undefined;
};

/** Creates it and gives its name. */
export async function runAgain(rerun: Rerun): Promise<string> {
  const { namespace, workflow, retryOf, test, revision, requestedBy } = rerun;
  const name = newName(workflow, Date.now());
  await createObject(RUNS, namespace, {
    metadata: { name, namespace },
    spec: {
      workflow,
      retryOf,
      ...(test && { test }),
      ...(revision !== undefined && { revision }),
      // A name that a record cannot hold is left out: the API server takes the whole name or none.
      ...(requestedBy !== undefined && requestedBy.length <= MAX_USER_NAME && { requestedBy }),
    },
  });
  return name;
}

const SUFFIX = 15;
const LIMIT = 63;

/** A name like those that the gateway makes: later ones sort later. */
function newName(workflow: string, now: number): string {
  const random = crypto.getRandomValues(new Uint32Array(2));
  const suffix = now.toString(36).padStart(9, '0') + random.join('').padStart(6, '0').slice(-6);
  const base = workflow.replaceAll('.', '-').slice(0, LIMIT - SUFFIX - 1);
  return `${base.replace(/-+$/, '')}-${suffix}`;
}
