/** What the import says of each node, and of all. */
import type { Json } from '../model/json.ts';
import type { N8nNode } from '../model/n8n.ts';

/**
 * `converted`: it does the same. `review`: it differs in the ways that the notes name. `manual`: it was not
 * converted; a placeholder or an annotation has the original parameters.
 */
export type State = 'converted' | 'review' | 'manual';

export type NodeReport = {
  name: string;
  type: string;
  state: State;
  /** What differs or what to do, in sentences. */
  notes: string[];
  /** The IDs of the nodes that it became. */
  ids: string[];
  /** The original parameters of a node that was not converted. */
  parameters?: Json;
};

const RANK: Record<State, number> = { converted: 0, review: 1, manual: 2 };

export type Reports = {
  note: (name: string, state: State, note: string) => void;
  became: (name: string, ids: readonly string[]) => void;
  /** The nodes that something was said of. */
  known: (name: string) => boolean;
  list: (nodes: readonly N8nNode[]) => NodeReport[];
};

/** Collects notes. The worst state of a node counts. */
export function createReports(): Reports {
  const entries = new Map<string, { state: State; notes: Set<string>; ids: Set<string> }>();
  const entry = (name: string) => {
    const known = entries.get(name) ?? {
      state: 'converted' as const,
      notes: new Set<string>(),
      ids: new Set<string>(),
    };
    entries.set(name, known);
    return known;
  };
  return {
    note: (name, state, note) => {
      const known = entry(name);
      if (RANK[state] > RANK[known.state]) known.state = state;
      if (note !== '') known.notes.add(note);
    },
    became: (name, ids) => {
      const known = entry(name);
      for (const id of ids) known.ids.add(id);
    },
    known: (name) => entries.has(name),
    list: (nodes) =>
      nodes.map(({ name, type, parameters }) => {
        const { state = 'manual', notes = [], ids = [] } = entries.get(name) ?? {};
        return {
          name,
          type,
          state,
          notes: [...notes],
          ids: [...ids],
          ...(state === 'manual' && { parameters }),
        };
      }),
  };
}

export type Coverage = { nodes: number; converted: number; review: number; manual: number };

export function coverageOf(reports: readonly Pick<NodeReport, 'state'>[]): Coverage {
  const count = (state: State) => reports.filter((report) => report.state === state).length;
  return {
    nodes: reports.length,
    converted: count('converted'),
    review: count('review'),
    manual: count('manual'),
  };
}
