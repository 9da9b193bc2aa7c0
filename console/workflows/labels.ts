/** The labels of workflows by which the list can be filtered, and that the settings of one change. Pure. */
import type { ObjectMeta } from '../kube/resources.ts';

type Labeled = { metadata: Pick<ObjectMeta, 'labels'> };

/** `all`: no filter. */
export const ANY_LABEL = 'all';

/** Of Helm, Flux, Argo CD, kapp, OLM (whose labels also begin with `olm.`), Fleet and Rancher. */
const TOOLS =
  /^(?:[^/]*\.)?(?:helm\.sh|fluxcd\.io|argoproj\.io|k14s\.io|operators\.coreos\.com|cattle\.io)\/|^olm\./;
/** What tools write into labels of Kubernetes. */
const WRITTEN_BY_TOOLS = /^app\.kubernetes\.io\/(?:instance|managed-by|version)$/;
/** The other labels of these domains may be of people, who set them with their tools. */
const SHARED = /^(?:[^/]*\.)?(?:kubernetes\.io|k8s\.io|windlass\.dev)\//;

/** Tools write it for themselves: nobody searches for it. */
const isOfTool = (key: string): boolean => TOOLS.test(key) || WRITTEN_BY_TOOLS.test(key);

/** Of Kubernetes, Windlass or a tool: the settings neither show nor change it. */
const isForeign = (key: string): boolean => TOOLS.test(key) || SHARED.test(key);

/** The labels of a workflow as they are written: `team=billing`, or the key alone if it has no value. */
export function labelsOf({ metadata }: Labeled): string[] {
  return Object.entries(metadata.labels ?? {})
    .filter(([key]) => !isOfTool(key))
    .map(([key, value]) => written(key, value));
}

/** All labels of these workflows, each once, in order. */
export function labelsIn(items: readonly Labeled[]): string[] {
  return [...new Set(items.flatMap(labelsOf))].toSorted();
}

/** The labels that people set, as they are written. */
export function ownLabels({ metadata: { labels = {} } }: Labeled): string[] {
  const own = Object.entries(labels).filter(([key]) => !isForeign(key));
  return labelsOf({ metadata: { labels: Object.fromEntries(own) } });
}

const NAME = /^[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/;
const DOMAIN = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

/** Why a text cannot be a label that people set; undefined: it can. */
export function labelProblem(text: string): string | undefined {
  const [key, value] = labelIn(text);
  if (isForeign(key)) return `${key} belongs to Kubernetes, Windlass or a tool. Choose another key.`;
  const [name = '', domain] = key.split('/').toReversed();
  const isKey = NAME.test(name) && (domain === undefined || DOMAIN.test(domain)) && key.split('/').length < 3;
  if (isKey && value === '' && text.includes('=')) return `Write a value after ${key}=, or ${key} alone.`;
  if (isKey && (value === '' || NAME.test(value))) return undefined;
  return `"${text}" is not a label: write a word or key=value, of a to z, A to Z, digits, -, _ and ., at most 63 each.`;
}

/**
 * The labels of a text with commas between them. `rest`: the part of the text that is not a label, `problem`
 * says why.
 */
export function readLabels(text: string): { labels: string[]; rest: string; problem: string | undefined } {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const wrong = parts.filter((part) => labelProblem(part) !== undefined);
  return {
    labels: parts.filter((part) => !wrong.includes(part)).map((part) => written(...labelIn(part))),
    rest: wrong.join(', '),
    problem: wrong.map(labelProblem)[0],
  };
}

/** For a merge patch: the new values of labels, null where one is removed. */
export type LabelChange = Readonly<Record<string, string | null>>;

/** The change between labels as they are written. It leaves out what is the same in both. */
export function labelChange(before: readonly string[], wanted: readonly string[]): LabelChange {
  const [old, next] = [new Map(before.map(labelIn)), new Map(wanted.map(labelIn))];
  const gone = [...old.keys()].filter((key) => !next.has(key));
  const set = [...next].filter(([key, value]) => old.get(key) !== value);
  return { ...Object.fromEntries(gone.map((key) => [key, null])), ...Object.fromEntries(set) };
}

/** Those of the labels that a change removes, as they are written. */
export function removedBy(change: LabelChange, labels: readonly string[]): string[] {
  return labels.filter((label) => change[labelIn(label)[0]] === null);
}

/** The labels that people set, after changes that are on their way. */
export function labelsAfter({ metadata }: Labeled, changes: readonly LabelChange[]): string[] {
  const all: LabelChange = Object.assign({}, metadata.labels, ...changes);
  const labels = Object.entries(all).filter((label): label is [string, string] => label[1] !== null);
  return ownLabels({ metadata: { labels: Object.fromEntries(labels) } });
}

/** The key and the value of a label as it is written. */
function labelIn(text: string): [key: string, value: string] {
  const [key = '', ...value] = text.trim().split('=');
  return [key.trim(), value.join('=').trim()];
}

function written(key: string, value: string): string {
  return value === '' ? key : `${key}=${value}`;
}
