/** Which workflows a node or tool can run, and what is said about the choice. Pure. */

type Known = {
  /** The edited workflow, which cannot run itself. */
  own: string | undefined;
  chosen: string | undefined;
  /** Whether all workflows of the project are listed. */
  isWhole: boolean;
  /** Whether they could not be listed. */
  hasFailed: boolean;
};

export type WorkflowChoices = {
  options: string[];
  placeholder: string;
  problem: string | undefined;
  /** There is no workflow to choose. */
  isEmpty: boolean;
};

/** `names`: the workflows that are listed so far. A chosen one stays among the options. */
export function workflowChoices(
  names: readonly string[],
  { own, chosen, isWhole, hasFailed }: Known,
): WorkflowChoices {
  const others = names.filter((name) => name !== own).toSorted();
  const isEmpty = isWhole && others.length === 0;
  return {
    options: chosen === undefined || others.includes(chosen) ? others : [chosen, ...others],
    placeholder: hasFailed
      ? 'The workflows could not be listed'
      : isEmpty
        ? 'No other workflow yet'
        : isWhole || others.length > 0
          ? 'Choose a workflow'
          : 'Loading…',
    problem: problemOf(chosen, own, isWhole && !others.includes(chosen ?? '')),
    isEmpty,
  };
}

function problemOf(
  chosen: string | undefined,
  own: string | undefined,
  isMissing: boolean,
): string | undefined {
  if (chosen === undefined) return undefined;
  if (chosen === own) return 'A workflow cannot run itself. Choose another one.';
  if (!isMissing) return undefined;
  return `Workflow ${chosen} does not exist in this project. Create it or choose another one.`;
}

/** The workflows whose name or display name contains the text. */
export function matchingWorkflows(
  names: readonly string[],
  titles: ReadonlyMap<string, string | undefined>,
  text: string,
): string[] {
  const wanted = text.trim().toLowerCase();
  return names.filter((name) => `${name}\n${titles.get(name) ?? ''}`.toLowerCase().includes(wanted));
}
