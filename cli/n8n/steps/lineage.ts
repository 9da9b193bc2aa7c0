/**
 * From which items of earlier nodes items come, which n8n calls paired items. Outputs of one lineage have the
 * same number of items in the same order; `origins` has, for other lineages, JavaScript for the list of
 * positions that each item comes from.
 */
import type { N8nWorkflow } from '../model/n8n.ts';
import type { Items } from './items.ts';

export type Traced = Pick<Items, 'list' | 'lineage' | 'origins'>;
type Origins = ReadonlyMap<string, string>;

/** Longer JavaScript is dropped: each filter after a filter makes it longer. */
const MAX_LENGTH = 4_000;

/** The origins of items that come from `input`. `positions`: JavaScript for the list of their positions. */
export function originsAt(input: Traced, positions: string): Origins {
  const inherited = [...(input.origins ?? [])].map(([lineage, earlier]): [string, string] => [
    lineage,
    `${positions}.map((at) => (${earlier})[at])`,
  ]);
  const all: [string, string][] =
    input.lineage === '' ? inherited : [...inherited, [input.lineage, positions]];
  return new Map(all.filter(([, code]) => code.length <= MAX_LENGTH));
}

/** The origins that all of the lists have, one after the other. */
export function joinOrigins(sources: readonly Traced[]): Origins {
  const [first] = sources;
  const lineages = first ? [...(first.origins?.keys() ?? []), first.lineage] : [];
  const entries = lineages.flatMap((lineage): [string, string][] => {
    const parts = sources.map((source) => positionsIn(source, lineage));
    const code = `[${parts.map((part) => `...${part}`).join(', ')}]`;
    return lineage === '' || parts.includes(undefined) || code.length > MAX_LENGTH ? [] : [[lineage, code]];
  });
  return new Map(entries);
}

const positionsIn = (source: Traced, lineage: string): string | undefined =>
  source.lineage === lineage ? `${source.list}.map((_, at) => at)` : source.origins?.get(lineage);

const READ = /\.item\b|\$node\b|itemMatching/;
const known = new WeakMap<N8nWorkflow, boolean>();

/** Whether a node of the workflow reads the item of another node that belongs to its own. */
export function readsPairedItems(workflow: N8nWorkflow): boolean {
  const reads =
    known.get(workflow) ?? workflow.nodes.some(({ parameters }) => READ.test(JSON.stringify(parameters)));
  known.set(workflow, reads);
  return reads;
}
