/**
 * Bounds how many names metrics show. Beyond the bound each namespace has an equal share of the names, active workflows first, so that no
 * project takes the names of others; all that have no name are shown together.
 */

/** The value of labels for everything beyond the bound. No namespace and no workflow can have this name. */
export const OTHER = '_other';

/** A name that exists, and may be shown. */
export type Candidate = { name: string; namespace: string; isActive: boolean };

export type LabelBound = {
  /** Whether the name is shown. One that is new is from now on, while there is room. */
  isShown: (name: string) => boolean;
  /** Chooses which of these are shown, those that were shown before in preference; answers with names that are not shown any more. */
  retain: (candidates: readonly Candidate[]) => string[];
};

/** Shows at most so many names. */
export function createLabelBound(limit: number): LabelBound {
  let shown = new Set<string>();
  return {
    isShown: (name) => {
      if (shown.size < limit) shown.add(name);
      return shown.has(name);
    },
    retain: (candidates) => {
      const before = shown;
      shown = new Set(chooseNames(candidates, before, limit));
      return [...before].filter((name) => !shown.has(name));
    },
  };
}

/** Namespaces take turns, with one name each. Inactive ones get what the active ones leave. */
function chooseNames(candidates: readonly Candidate[], shown: ReadonlySet<string>, limit: number): string[] {
  if (candidates.length <= limit) return candidates.map(({ name }) => name);
  const activeFirst = (a: Candidate, b: Candidate) => Number(b.isActive) - Number(a.isActive);
  const shownFirst = (a: Candidate, b: Candidate) => Number(shown.has(b.name)) - Number(shown.has(a.name));
  const turns = new Map<string, number>();
  const inTurn = candidates.toSorted(shownFirst).map((candidate) => {
    const group = `${candidate.namespace} ${candidate.isActive}`;
    const turn = turns.get(group) ?? 0;
    turns.set(group, turn + 1);
    return { ...candidate, turn };
  });
  return inTurn
    .toSorted((a, b) => activeFirst(a, b) || a.turn - b.turn)
    .slice(0, limit)
    .map(({ name }) => name);
}

/** What metrics call a workflow: its namespace and its name, or `_other` twice. */
export type WorkflowLabels = { namespace: string; workflow: string };

/** By which labels a workflow is shown. */
export function labelsOf(bound: LabelBound, { namespace, workflow }: WorkflowLabels): WorkflowLabels {
  const isShown = bound.isShown(`${namespace}/${workflow}`);
  return isShown ? { namespace, workflow } : { namespace: OTHER, workflow: OTHER };
}

/** The value of each workflow, and the highest of all those that are shown together. */
export function highestOf(
  bound: LabelBound,
  values: readonly (WorkflowLabels & { value: number })[],
): { labels: WorkflowLabels; value: number }[] {
  const highest = new Map<string, { labels: WorkflowLabels; value: number }>();
  for (const { value, ...of } of values) {
    const labels = labelsOf(bound, of);
    const key = `${labels.namespace}/${labels.workflow}`;
    highest.set(key, { labels, value: Math.max(value, highest.get(key)?.value ?? 0) });
  }
  return [...highest.values()];
}
