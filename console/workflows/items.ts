/** The items of the workflow list, read from Table rows, with search, filters and order. */
import type { TriggerKind } from '../../api/triggerKinds.ts';
import { PUBLIC } from '../../api/access.ts';
import { NEEDS_ACTION } from '../../api/conditions.ts';
import { ANNOTATION } from '../../api/group.ts';
import { keptRevisionIn } from '../../api/keptRevision.ts';
import type { ObjectMeta } from '../kube/resources.ts';
import { numberCell, perRow, textCell, type Row } from '../kube/table.ts';
import { capitalized, waitingText } from '../ui/format.ts';
import { conditionText } from './conditionText.ts';
import { ANY_LABEL, labelsOf } from './labels.ts';
import { managerOf, ownerOfField, type Manager } from './manager.ts';

/** In their order in the list. */
export const STATE_KINDS = ['attention', 'waiting', 'suspended', 'leaving', 'ready', 'inactive'] as const;

/**
 * `attention`: someone must act. `suspended`: every run is refused. `waiting`: it may resolve itself.
 * `leaving`: it is being deleted.
 */
export type StateKind = (typeof STATE_KINDS)[number];

export type WorkflowState = {
  kind: StateKind;
  label: string;
  /** Details, if there are any. */
  message?: string;
  /** An earlier version is live: the saved one has a problem. */
  isServed?: true;
};

export type WorkflowItem = {
  name: string;
  /** The display name, or the ID. */
  title: string;
  metadata: ObjectMeta;
  /** As they are written, without those of tools. */
  labels: readonly string[];
  state: WorkflowState;
  active: boolean;
  suspended: boolean;
  trigger?: TriggerKind;
  /** Anyone who knows the URL of its webhook can start runs. */
  isPublic: boolean;
  url?: string;
  /** RFC 3339. */
  lastRun?: string;
  /** Runs that a runner executes. */
  running: number;
  /** Unfinished runs that no runner executes. */
  waiting: number;
  succeeded: number;
  failed: number;
  manager?: Manager;
  /** The tool that manages `active` and would revert the toggle. */
  activeOwner?: Manager;
};

export const itemOf = perRow(readItem);

function readItem(row: Row): WorkflowItem {
  const { metadata } = row;
  const trigger = textCell(row, 'Trigger') as TriggerKind | undefined;
  const url = textCell(row, 'URL');
  const lastRun = textCell(row, 'Last accepted');
  const manager = managerOf(metadata);
  const activeOwner = ownerOfField(metadata, ['spec', 'active']);
  return {
    name: metadata.name,
    title: textCell(row, 'Display name') ?? metadata.name,
    metadata,
    labels: labelsOf({ metadata }),
    state: stateOf(row),
    active: row.cells['Active'] === true,
    suspended: row.cells['Suspended'] === true,
    isPublic: textCell(row, 'Access') === PUBLIC,
    running: numberCell(row, 'Running'),
    waiting: numberCell(row, 'Waiting'),
    succeeded: numberCell(row, 'Succeeded'),
    failed: numberCell(row, 'Failed'),
    ...(trigger !== undefined && { trigger }),
    ...(url !== undefined && { url }),
    ...(lastRun !== undefined && { lastRun }),
    ...(manager !== undefined && { manager }),
    ...(activeOwner !== undefined && { activeOwner }),
  };
}

/** The state, from the conditions that the row shows. */
function stateOf(row: Row): WorkflowState {
  if (row.metadata.deletionTimestamp !== undefined) return { kind: 'leaving', label: 'Being deleted' };
  return stateFrom({
    reason: textCell(row, 'Reason'),
    message: textCell(row, 'Message'),
    ready: textCell(row, 'Ready'),
    isStalled: textCell(row, 'Stalled') === 'True',
    suspended: row.cells['Suspended'] === true,
    waiting: numberCell(row, 'Waiting'),
  });
}

type Found = {
  reason: string | undefined;
  message: string | undefined;
  /** The status of the condition `Ready`. */
  ready: string | undefined;
  isStalled: boolean;
  suspended: boolean;
  waiting: number;
};

/** The state of a workflow that is not being deleted. */
export function stateFrom(found: Found): WorkflowState {
  const { reason = 'Pending', ready, isStalled, suspended, waiting } = found;
  const message = found.message && conditionText(found.message);
  if (ready === 'True' && !isStalled) return settledState(reason, waiting);
  if (keptRevisionIn(found.message) !== undefined)
    return { kind: 'attention', label: NOT_LIVE, isServed: true, ...(message !== undefined && { message }) };
  const isStuck = isStalled || (ready === 'False' && NEEDS_ACTION.has(reason));
  const kind = isStuck ? 'attention' : 'waiting';
  // A reason of readiness is no problem: another condition has it.
  const label = ready === 'True' ? 'Needs attention' : labelOf(reason, suspended, found.message);
  return { kind, label, ...(message !== undefined && { message }) };
}

/** Of a workflow whose published version is invalid, while an earlier one is in effect. */
export const NOT_LIVE = 'Published version not live';

/** The label of a reason. It also says whether the workflow is suspended. */
function labelOf(reason: string, suspended: boolean, message: string | undefined): string {
  const words = isOfEmptyGroup(message) ? 'Empty group' : reasonLabel(reason);
  return suspended ? `Suspended · ${words.charAt(0).toLowerCase()}${words.slice(1)}` : words;
}

/** Whether the problem of a workflow is a group without nodes, whose reason is that of unreachable nodes. */
function isOfEmptyGroup(message = ''): boolean {
  return /^node \w+: the group has no body/.test(message);
}

/** The state of a workflow whose spec is in effect. */
function settledState(reason: string, waiting: number): WorkflowState {
  if (reason === 'Suspended')
    return {
      kind: 'suspended',
      label: 'Suspended',
      message: `Every run is refused, including test runs. ${waitingText(waiting)}`,
    };
  return reason === 'Inactive' ? { kind: 'inactive', label: 'Inactive' } : { kind: 'ready', label: 'Ready' };
}

/** A reason as words: "Credential missing" of "CredentialMissing". */
export function reasonLabel(reason: string): string {
  const words = reason.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, ' ').toLowerCase();
  return capitalized(words);
}

/** The share of ended runs that succeeded, 0 to 1; undefined before the first end. */
export function successRate({ succeeded, failed }: Pick<WorkflowItem, 'succeeded' | 'failed'>) {
  return succeeded + failed === 0 ? undefined : succeeded / (succeeded + failed);
}

/** Never "100%" after a failure, and never "0%" after a success. */
export function rateText(rate: number): string {
  if (rate === 0 || rate === 1) return `${rate * 100}%`;
  return `${Math.min(99, Math.max(1, Math.round(rate * 100)))}%`;
}

/** The names of the workflows with unpublished changes, by the rows of drafts: some have pins alone. */
export function changedBy(drafts: readonly Row[]): ReadonlySet<string> {
  const changing = drafts.filter(({ metadata }) => metadata.annotations?.[ANNOTATION.pinsOnly] !== 'true');
  return new Set(changing.map(({ metadata }) => metadata.name));
}

export type Filter = {
  text: string;
  state: StateKind | 'all';
  trigger: TriggerKind | 'all';
  active: 'all' | 'on' | 'off';
  /** A label as `labelsOf` writes it, or `all`. */
  label: string;
};

export const NO_FILTER: Filter = { text: '', state: 'all', trigger: 'all', active: 'all', label: ANY_LABEL };

/** The matching items. Title, name or labels must contain each word of the text. */
export function filtered(
  items: WorkflowItem[],
  { text, state, trigger, active, label }: Filter,
): WorkflowItem[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter(
    (item) =>
      (state === 'all' || item.state.kind === state || (state === 'suspended' && item.suspended)) &&
      (trigger === 'all' || item.trigger === trigger) &&
      (active === 'all' || item.active === (active === 'on')) &&
      (label === ANY_LABEL || item.labels.includes(label)) &&
      hasWords(item, words),
  );
}

function hasWords(item: WorkflowItem, words: readonly string[]): boolean {
  const all = `${item.title} ${item.name} ${item.labels.join(' ')}`.toLowerCase();
  return words.every((word) => all.includes(word));
}

export type SortKey = 'title' | 'state' | 'trigger' | 'lastRun' | 'rate';
export type Sort = { key: SortKey; descending: boolean };

const titles = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Sorted items; equal ones by title. Missing values come last in both directions. */
export function sorted(items: WorkflowItem[], { key, descending }: Sort): WorkflowItem[] {
  const sign = descending ? -1 : 1;
  return items.toSorted((a, b) => {
    const [one, other] = [valueFor(a, key), valueFor(b, key)];
    if ((one === undefined) !== (other === undefined)) return one === undefined ? 1 : -1;
    return sign * compare(one, other) || titles.compare(a.title, b.title);
  });
}

function compare(one: string | number | undefined, other: string | number | undefined): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return titles.compare(String(one ?? ''), String(other ?? ''));
}

function valueFor(item: WorkflowItem, key: SortKey): string | number | undefined {
  switch (key) {
    case 'title':
      return item.title;
    case 'state':
      return STATE_KINDS.indexOf(item.state.kind);
    case 'trigger':
      return item.trigger;
    case 'lastRun':
      return item.lastRun === undefined ? undefined : Date.parse(item.lastRun);
    case 'rate':
      return successRate(item);
  }
}
