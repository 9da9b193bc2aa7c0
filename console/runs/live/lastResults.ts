/** What the newest runs of a workflow tell of each of its nodes. Pure. */
import type { RunView } from '../../../api/runView.ts';

export type NodeOutputs = NonNullable<RunView['nodes'][number]['output']>;

/** What earlier runs tell of a node: its last output, and why it failed when it last did. */
export type LastResult = Partial<NodeOutputs> & {
  /** Whether the record has only a part of the output. */
  truncated?: true;
  error?: { reason: string; message: string };
};

type Ended = Pick<RunView['nodes'][number], 'id' | 'phase' | 'output' | 'truncated' | 'reason' | 'message'>;

/** The newest output and the newest error of each node. Runs come newest first, `older` is before them. */
export function lastResults(
  runs: readonly Iterable<Ended>[],
  older: ReadonlyMap<string, LastResult> = new Map(),
): Map<string, LastResult> {
  const results = new Map(older);
  for (const nodes of runs.toReversed())
    for (const { id, phase, output, truncated, reason = '', message = '' } of nodes) {
      const { error, ...before } = results.get(id) ?? {};
      const newest = phase === 'Failed' ? { reason, message } : error;
      if (output !== undefined || newest !== undefined)
        results.set(id, {
          ...(output ? { ...output, ...(truncated && { truncated }) } : before),
          ...(newest && { error: newest }),
        });
    }
  return results;
}

/** The output alone; undefined if the node only failed. */
export function outputOf(result: LastResult | undefined): NodeOutputs | undefined {
  const { error: _error, truncated: _cut, ...output } = result ?? {};
  return Object.keys(output).length === 0 ? undefined : output;
}

/** Whether the runs tell of a node that none of them executed: an older run may have its output. */
export function lacksNode(runs: readonly Iterable<Ended>[]): boolean {
  const known = lastResults(runs);
  return runs.some((nodes) => [...nodes].some(({ id, phase }) => phase === 'Skipped' && !known.has(id)));
}
