/** The first steps in a project, ticked by what exists. Pure. */
import type { WorkflowItem } from '../workflows/items.ts';

export type Step = 'credential' | 'workflow' | 'run';

type Existing = {
  credentials: number;
  items: readonly Pick<WorkflowItem, 'active' | 'lastRun'>[];
  /** Whether the project has a record of a run, also of a test run. */
  hasRun: boolean;
};

/** The steps that are done. A template, or a workflow without credentials, does the first one too. */
export function stepsDone({ credentials, items, hasRun }: Existing): ReadonlySet<Step> {
  const done: Step[] = [];
  if (credentials > 0 || items.length > 0) done.push('credential');
  if (items.some(({ active }) => active)) done.push('workflow');
  if (hasRun || items.some(({ lastRun }) => lastRun !== undefined)) done.push('run');
  return new Set(done);
}

/** What the user chose: nothing, to dismiss the steps, or to see them again. */
export type Choice = '' | 'dismissed' | 'shown';

/** Whether the steps are shown: until all are done, unless the user chose. */
export function showsSteps(choice: Choice, done: ReadonlySet<Step>): boolean {
  return choice === '' ? done.size < 3 : choice === 'shown';
}

/** Where the browser keeps the choice of a user in a project. */
export function choiceKey(user: string, project: string): string {
  return `windlass.getting-started.${project}.${user}`;
}
