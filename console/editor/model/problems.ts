/** Problems of a draft, by node and edge, from the API server and the operator. Pure. */
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { credentialFields } from '../../credentials/credentialFields.ts';
import { missingCredentialText } from '../../credentials/fitText.ts';
import { labelOf, requiredText } from '../../forms/labels.ts';
import { EDGE_PLACE, NODE_PLACE, withoutPlace } from '../../forms/place.ts';
import type { Cause } from '../../http/failure.ts';
import type { WorkflowObject } from '../../kube/resources.ts';
import { isWithoutCredential, operatorWords } from '../../workflows/operatorWords.ts';
import { edgeId, edgesOf } from './graph.ts';
import { patternText } from '../../forms/patternProblem.ts';

export type Problem = {
  /**
   * The field within the node, such as `agent.prompt`; empty: the whole node. Of the workflow: a setting,
   * such as `history.ttl`.
   */
  field: string;
  message: string;
  /** The credential that does not work: its field shows the state, and how to mend it. */
  credential?: string;
  /**
   * `draft`: the API server, which refuses the draft for it, or a field with an unapplied text. `reference`
   * and `incomplete`: the editor, about references of the draft, and about what is missing. `credential`: the
   * editor, about a credential that the project does not have. `saved`: the operator, about the saved
   * workflow.
   */
  source: 'draft' | 'reference' | 'incomplete' | 'credential' | 'saved';
};

export type Problems = {
  readonly nodes: ReadonlyMap<string, readonly Problem[]>;
  /** By `from>to`. */
  readonly edges: ReadonlyMap<string, readonly Problem[]>;
  /** Problems of the workflow as a whole. */
  readonly workflow: readonly Problem[];
};

type Place = { node: string } | { edge: string } | undefined;
export type Found = { place: Place; problem: Problem };

export const NO_PROBLEMS: Problems = { nodes: new Map(), edges: new Map(), workflow: [] };

/** By place. A problem that two checks report in the same words is listed once. */
export function problemsOf(all: readonly Found[]): Problems {
  const found = [
    ...new Map(
      all.map((each) => [JSON.stringify([each.place, each.problem.field, each.problem.message]), each]),
    ).values(),
  ];
  const at = (key: 'node' | 'edge') =>
    found.flatMap(({ place, problem }) => {
      const id = place === undefined ? undefined : (place as Record<string, string | undefined>)[key];
      return id === undefined ? [] : [{ id, problem }];
    });
  return {
    nodes: grouped(at('node')),
    edges: grouped(at('edge')),
    workflow: found.flatMap(({ place, problem }) => (place === undefined ? [problem] : [])),
  };
}

function grouped(list: { id: string; problem: Problem }[]): Map<string, Problem[]> {
  return new Map(
    [...Map.groupBy(list, ({ id }) => id)].map(([id, group]) => [id, group.map(({ problem }) => problem)]),
  );
}

const NODE_PATH = /^spec\.nodes\[(\d+)\](?:\.(.*))?$/;
const EDGE_PATH = /^spec\.edges\[(\d+)\](?:\.(.*))?$/;
const SETTING_PATH = /^spec\.(?!(?:nodes|edges)\b)(.+)$/;
/** Rules of the whole spec that are about one setting. */
const OF_SETTINGS: readonly [RegExp, string][] = [
  [/^a public chat needs a daily budget/, 'budget.day'],
  [/^timeZone: /, 'timeZone'],
];
/** The prefix of API server messages: the kind of error and the value, which users need not read as JSON. */
const PREFIX = /^Invalid value: (?:(?:"(?:\\.|[^"\\])*"|\{.*?\}|\[.*?\]|-?[\d.]+|true|false|null): )?/s;

/** Rules that were skipped because of other errors: the user cannot do anything about them. */
const NOT_CHECKED = /^Invalid value: null: some validation rules were not checked/;

/** The problems that the API server reported for a draft. */
export function draftProblems(causes: readonly Cause[], spec: WorkflowSpec): Found[] {
  const told = causes.filter(({ message }) => causes.length === 1 || !NOT_CHECKED.test(message));
  return told.flatMap(unknownFields).flatMap(({ field, message }): Found | Found[] => {
    const credential = forbiddenCredential(message);
    if (credential !== undefined) return forbiddenAt(credential, spec);
    const text = plainMessage(message, field);
    const node = NODE_PATH.exec(field);
    if (node) return found(nodeAt(spec, Number(node[1])), node[2] ?? '', text, 'draft');
    const edge = EDGE_PATH.exec(field);
    if (edge) return found(edgeAt(spec, Number(edge[1])), edge[2] ?? '', text, 'draft');
    const setting = SETTING_PATH.exec(field);
    if (setting) return found(undefined, setting[1] ?? '', text, 'draft');
    return named(field === '' || field === 'spec' ? text : `${field}: ${text}`, spec, 'draft');
  });
}

/** One cause for each field that no workflow has, where the API server lists them in one message. */
function unknownFields(cause: Cause): Cause[] {
  const fields = [...cause.message.matchAll(/unknown field "([^"]+)"/g)].map(([, field = '']) => field);
  if (fields.length === 0) return [cause];
  return fields.map((path) => {
    const [, node = '', inner = path] = /^(spec\.(?:nodes|edges)\[\d+\])\.(.*)$/.exec(path) ?? [];
    return {
      field: node,
      message: `${inner} is not a field of a workflow. Correct or remove it in the YAML.`,
    };
  });
}

const FORBIDDEN_CREDENTIAL = /lacks the right to use credentials\/(\S+) in namespace/;

/** The credential that a refusal is about, if the right to use it is missing. */
export function forbiddenCredential(message: string): string | undefined {
  return FORBIDDEN_CREDENTIAL.exec(message)?.[1];
}

/** The problem at each node that refers to the credential. */
function forbiddenAt(credential: string, spec: WorkflowSpec): Found[] {
  const message = `You are not allowed to use the credential ${credential}. Choose another one, or ask an administrator for the verb "use" on it.`;
  return spec.nodes.flatMap((node) =>
    credentialFields(node)
      .filter(({ name }) => name === credential)
      .map(({ field }) => found({ node: node.id }, field, message, 'draft')),
  );
}

/** The problems in the conditions that the operator wrote. */
export function savedProblems({ metadata, spec, status }: WorkflowObject): Found[] {
  const bad = (status?.conditions ?? []).filter(
    ({ type, status: is, observedGeneration }) =>
      (type === 'Valid' || type === 'CredentialsReady') &&
      is === 'False' &&
      (observedGeneration === undefined || observedGeneration === metadata.generation),
  );
  return bad.flatMap(({ message }) => sentencesOf(message ?? '').map((text) => named(text, spec, 'saved')));
}

/** In the console there is a button for it, beside the credential. */
const NOT_CONNECTED = /(\bcredential \S+ is not )ready \(NotConnected\): .*$/is;

/** A message may list several problems, each starting with its place. */
export function sentencesOf(message: string): string[] {
  return message
    .split(/(?:;|\n)\s*(?=(?:node|edge) [A-Za-z])/)
    .map((text) => text.trim().replace(NOT_CONNECTED, '$1connected: click Connect at its field'))
    .filter((text) => text !== '');
}

const OF_CREDENTIAL = /^node '?(\w+)'?: credential (\S+) (.*)$/is;
/** The editor reports this itself, too. Both use the same text, so that it is listed once. */
const OF_MISSING = /^does not exist\b/;
/** About the account, whose state the field of the credential shows. */
const OF_ACCOUNT = /^(?:is not (?:ready|connected)|is being checked|lacks scopes)\b/;

/** A problem of a credential, at its field. */
function credentialProblem(
  message: string,
  spec: WorkflowSpec,
  source: Problem['source'],
): Found | undefined {
  const [, id, credential = '', text = ''] = OF_CREDENTIAL.exec(message) ?? [];
  const node = spec.nodes.find((other) => other.id === id);
  const at = node && credentialFields(node).find(({ name }) => name === credential);
  if (node === undefined || at === undefined) return undefined;
  if (OF_MISSING.test(text))
    return found({ node: node.id }, at.field, missingCredentialText(credential), source);
  const told = operatorWords(message);
  if (!OF_ACCOUNT.test(text)) return found({ node: node.id }, at.field, withoutPlace(told), source);
  const { place, problem } = found({ node: node.id }, at.field, told, source);
  return { place, problem: { ...problem, credential } };
}

function named(message: string, spec: WorkflowSpec, source: Problem['source']): Found {
  const ofCredential = credentialProblem(message, spec, source);
  if (ofCredential !== undefined) return ofCredential;
  const text = operatorWords(message);
  const [, id = '', path = ''] = NODE_PLACE.exec(message) ?? [];
  if (spec.nodes.some((other) => other.id === id))
    return isWithoutCredential(message)
      ? found({ node: id }, `${pathOf(path)}.credential`, withoutPlace(text), source)
      : found({ node: id }, pathOf(path), text, source);
  const edge = EDGE_PLACE.exec(message);
  const ends = edge && edgeId({ from: edge[1] ?? '', to: edge[2] ?? '' });
  if (ends && edgesOf(spec).some((other) => edgeId(other) === ends))
    return found({ edge: ends }, 'when', text, source);
  const [, setting = ''] = OF_SETTINGS.find(([rule]) => rule.test(message)) ?? [];
  return found(undefined, setting, text.replace(/^timeZone: /, ''), source);
}

/** `agent.tools[0].name` for `agent: tools: 0: name: `. */
function pathOf(written: string): string {
  const steps = written.split(': ').filter((step) => step !== '');
  return steps
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1);
}

function found(place: Place, field: string, message: string, source: Problem['source']): Found {
  return { place, problem: { field, message, source } };
}

function nodeAt(spec: WorkflowSpec, index: number): Place {
  const id = spec.nodes[index]?.id;
  return id === undefined ? undefined : { node: id };
}

function edgeAt(spec: WorkflowSpec, index: number): Place {
  const edge = spec.edges?.[index];
  return edge && { edge: edgeId(edge) };
}

/** The message of the API server without the field and the value that it repeats. */
function plainMessage(message: string, field: string): string {
  const text = message.replace(PREFIX, '');
  const place = `${field} in body `;
  const plain = text.startsWith(place) ? text.slice(place.length) : text;
  if (plain === 'Required value') return requiredText(labelOf(field.slice(field.lastIndexOf('.') + 1)));
  const [, way, bound] = /^should be (greater|less) than or equal to (-?[\d.]+)$/.exec(plain) ?? [];
  if (bound !== undefined) return `Enter ${bound} or ${way === 'greater' ? 'more' : 'less'}`;
  const pattern = /^should match '(.*)'$/s.exec(plain)?.[1] ?? '';
  return plain === 'should be at least 1 chars long' ? emptyMessage(field) : (patternText(pattern) ?? plain);
}

function emptyMessage(field: string): string {
  if (field.endsWith('.model')) return 'Choose a model';
  return field.endsWith('.credential') ? 'Choose a credential' : 'Enter a value';
}
