/** Removes the input and the outputs of a recorded run, and keeps its result. */
import { ANNOTATION } from '../../api/group.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import type { NodeStatus } from '../../api/nodeStatus.ts';
import { isConflict, isInvalid, isNotFound } from '../../kube/errors.ts';
import type { OperatorContext } from '../shared/context.ts';
import { workflowRuns } from '../shared/resources.ts';

type Patch = { op: 'test' | 'add' | 'replace' | 'remove'; path: string; value?: unknown }[];

/**
 * Removes the input, and all outputs, sent parameters, logs and transcripts of an ended run. Those of nodes
 * are removed first, and the annotation is written with the input, so that an interrupted removal is
 * repeated. A run that was deleted or written meanwhile is left for the next time.
 */
export async function removeData(
  { client, caches, clock }: Pick<OperatorContext, 'client' | 'caches' | 'clock'>,
  { metadata: { name, namespace = '', uid } }: WorkflowRun,
): Promise<void> {
  const ref = { namespace, name };
  const run = await client.find(workflowRuns, ref);
  if (!run || run.metadata.uid !== uid) return;
  try {
    const status = statusPatch(run);
    if (status.length > 0)
      await client.patch(workflowRuns, ref, [ofUid(uid), ...status], { type: 'json', subresource: 'status' });
    const patch = [ofUid(uid), ...specPatch(run, clock.date())];
    caches.runs.noteWrite(await client.patch<WorkflowRun>(workflowRuns, ref, patch, { type: 'json' }));
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error) && !isInvalid(error)) throw error;
  }
}

function ofUid(uid: string | undefined): Patch[number] {
  return { op: 'test', path: '/metadata/uid', value: uid };
}

/** Replaces each node that has data by itself without it. */
function statusPatch({ status }: Pick<WorkflowRun, 'status'>): Patch {
  return (status?.nodes ?? []).flatMap((node, index) =>
    hasData(node)
      ? [{ op: 'replace' as const, path: `/status/nodes/${index}`, value: withoutData(node) }]
      : [],
  );
}

function hasData({ output, log, transcript, mocked, sent, missing }: NodeStatus): boolean {
  return [output, log, transcript, mocked?.parameters, sent, missing].some((data) => data !== undefined);
}

function withoutData(whole: NodeStatus): NodeStatus {
  const { output: _output, log: _log, transcript: _transcript, mocked, ...others } = whole;
  const { sent: _sent, missing: _missing, ...node } = others;
  return { ...node, ...(mocked && { mocked: {} }), truncated: true, redacted: true };
}

/** The annotation in which `kubectl apply` stores the manifest, and with it the input. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Removes the input and its copy, and adds the annotations that say so. */
function specPatch({ metadata, spec }: Pick<WorkflowRun, 'metadata' | 'spec'>, now: Date): Patch {
  const { [LAST_APPLIED]: _copy, ...annotations } = metadata.annotations ?? {};
  const marks = { [ANNOTATION.dataRemoved]: now.toISOString(), [ANNOTATION.partialInput]: 'true' };
  const input: Patch =
    spec.input === undefined
      ? []
      : [
          { op: 'remove', path: '/spec/input' },
          { op: 'add', path: '/spec/inputTruncated', value: true },
          { op: 'add', path: '/spec/inputRedacted', value: true },
        ];
  return [...input, { op: 'add', path: '/metadata/annotations', value: { ...annotations, ...marks } }];
}
