/** Bounds how many names metrics show: the first ones that are seen, as long as they exist; all others are shown together. */

/** The value of labels for everything beyond the bound. No namespace and no workflow can have this name. */
export const OTHER = '_other';

export type LabelBound = {
  /** Whether the name is shown. One that is not yet is from now on, while there is room. */
  isShown: (name: string) => boolean;
  /** Forgets all names but these, and answers with those that it forgot: their room is free. */
  keep: (names: ReadonlySet<string>) => string[];
};

/** Shows at most so many names. */
export function createLabelBound(limit: number): LabelBound {
  const shown = new Set<string>();
  return {
    isShown: (name) => {
      if (shown.size < limit) shown.add(name);
      return shown.has(name);
    },
    keep: (names) => {
      const gone = [...shown].filter((name) => !names.has(name));
      for (const name of gone) shown.delete(name);
      return gone;
    },
  };
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
