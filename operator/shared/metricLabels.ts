/**
 * Limits the number of names in metric labels. Beyond the limit, each namespace gets an equal share, active
 * workflows first, so that no project displaces others; everything else shares one label value.
 */

/** The value of labels for everything beyond the bound. No namespace and no workflow can have this name. */
export const OTHER = '_other';

/** A name that exists and may be a label value. */
export type Candidate = { name: string; namespace: string; isActive: boolean };

export type LabelBound = {
  /** Whether the name is a label value. A new name becomes one if there is room. */
  isShown: (name: string) => boolean;
  /**
   * Chooses label values among these, in preference those chosen before. Returns the names that are no longer
   * label values.
   */
  retain: (candidates: readonly Candidate[]) => string[];
};

/** Admits at most `limit` names. */
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

/** Chooses one name per namespace in each round. Inactive workflows get the room that active ones leave. */
function chooseNames(candidates: readonly Candidate[], shown: ReadonlySet<string>, limit: number): string[] {
  if (candidates.length <= limit) return candidates.map(({ name }) => name);
  const activeFirst = (a: Candidate, b: Candidate) => Number(b.isActive) - Number(a.isActive);
  const shownFirst = (a: Candidate, b: Candidate) => Number(shown.has(b.name)) - Number(shown.has(a.name));
  const rounds = new Map<string, number>();
  const ranked = candidates.toSorted(shownFirst).map((candidate) => {
    const group = `${candidate.namespace} ${candidate.isActive}`;
    const round = rounds.get(group) ?? 0;
    rounds.set(group, round + 1);
    return { ...candidate, round };
  });
  return ranked
    .toSorted((a, b) => activeFirst(a, b) || a.round - b.round)
    .slice(0, limit)
    .map(({ name }) => name);
}

/** The labels of a workflow: its namespace and name, or `_other` twice. */
export type WorkflowLabels = { namespace: string; workflow: string };

/** The labels of a workflow within the bound. */
export function labelsOf(bound: LabelBound, { namespace, workflow }: WorkflowLabels): WorkflowLabels {
  const isShown = bound.isShown(`${namespace}/${workflow}`);
  return isShown ? { namespace, workflow } : { namespace: OTHER, workflow: OTHER };
}

/** The value of each named workflow, and the highest value of all others. */
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
