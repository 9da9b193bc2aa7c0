/** The child runs of the items of a loop, from records. Pure. */
import { LABEL } from '../../api/group.ts';
import type { RunObject } from '../kube/resources.ts';

export type ItemRun = { name: string; item: number | undefined };

/** The child runs of these nodes, by their items. */
export function itemRunsOf(
  runs: readonly Pick<RunObject, 'metadata' | 'spec'>[],
  nodes: readonly string[],
): ItemRun[] {
  return runs
    .filter(({ spec }) => nodes.includes(spec.parent?.node ?? ''))
    .map(({ metadata: { name, labels } }) => {
      const item = labels?.[LABEL.parentItem];
      return { name, item: item === undefined ? undefined : Number(item) };
    })
    .toSorted((a, b) => (a.item ?? 0) - (b.item ?? 0) || a.name.localeCompare(b.name));
}
