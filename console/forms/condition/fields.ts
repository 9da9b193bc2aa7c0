/** The fields that a condition can be chosen from: what the outputs of earlier nodes have. Pure. */
import { n8nReferenceAt } from '../../../api/expression/n8n.ts';
import { printStep, type PathStep } from '../../../api/expression/reference.ts';
import { toText } from '../../../api/expression/evaluate.ts';
import { isRecord } from '../../../api/record.ts';
import { childrenOf, type Source, type Sources } from '../source.ts';
import { printField, type Field } from './rows.ts';

export type FieldChoice = {
  field: Field;
  /** The field in CEL, which identifies it. */
  cel: string;
  /** The label of its node. */
  node: string;
  /** The path within its node: `customer.email`. */
  label: string;
  /** `text`, `number`, `boolean`, `list`, `object`, `null`; undefined: the value is not known. */
  type: string | undefined;
  /** The last value as text; empty if it is not known. */
  sample: string;
};

/** Deeper values are rarely those that are meant, and can be written in CEL. */
const DEEPEST = 4;
const MOST_OF_A_NODE = 100;
const LONGEST = 40;

/** The fields of all nodes before, those of the nearest node first. */
export function fieldsOf(sources: Sources): FieldChoice[] {
  return nearestFirst(sources).flatMap((source) => fieldsOfNode(source).slice(0, MOST_OF_A_NODE));
}

/** The node before comes first, if there is one; groups around come after it. */
function nearestFirst({ nodes, previous }: Sources): Source[] {
  const first = nodes.find(({ id }) => id === previous?.id);
  const others = nodes.filter((source) => source !== first).toReversed();
  return first === undefined ? others : [first, ...others];
}

function fieldsOfNode(source: Source): FieldChoice[] {
  // Most conditions are about data.
  const members = source.members.toSorted((one, other) => rankOf(one) - rankOf(other));
  return members.flatMap((member) => within(source, [member], source.output[member], member));
}

function rankOf(member: string): number {
  return member === 'data_content' ? 0 : 1;
}

function within(source: Source, path: PathStep[], value: unknown, member: string): FieldChoice[] {
  const inner =
    path.length > DEEPEST
      ? []
      : childrenOf(value).filter(({ step }) => step === 0 || typeof step === 'string');
  const deeper = inner.flatMap(({ step, value: child }) => within(source, [...path, step], child, member));
  // The whole data is rarely compared.
  const isRoot = path.length === 1 && member === 'data_content' && isRecord(value) && deeper.length > 0;
  return isRoot ? deeper : [choiceOf(source, path, value, member), ...deeper];
}

function choiceOf(source: Source, path: PathStep[], value: unknown, member: string): FieldChoice {
  const field = ['nodes', source.id, ...path];
  const isKnown = source.isReal && value !== undefined;
  return {
    field,
    cel: printField(field),
    node: source.label,
    label: member === 'data_content' && path.length > 1 ? labelOf(path.slice(1)) : labelOf(path),
    type: isKnown ? typeOf(value) : undefined,
    sample: isKnown && typeof value !== 'object' ? toText(value).slice(0, LONGEST) : '',
  };
}

function labelOf(path: readonly PathStep[]): string {
  return path.map(printStep).join('').replace(/^\./, '');
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'string' ? 'text' : typeof value;
}

/** The choice for a field that is not among them, such as one of a node without output. */
export function otherField(field: Field, { nodes }: Sources): FieldChoice {
  const [root, node, ...path] = field;
  const isOfNode = root === 'nodes' && node !== undefined;
  const shown = path[0] === 'data_content' && path.length > 1 ? path.slice(1) : path;
  return {
    field,
    cel: printField(field),
    node: isOfNode ? (nodes.find(({ id }) => id === node)?.label ?? String(node)) : 'Other',
    label: isOfNode ? labelOf(shown) || 'the node' : printField(field),
    type: undefined,
    sample: '',
  };
}

const PATH = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d{1,4}\])*$/;

/** A path that was typed, and the node that comes before it; undefined: the nearest one. */
type Written = { node?: string | undefined; path: string };

/**
 * The field of the nearest node that a typed path names: `customer.email`, or with the name of its output
 * `data_content.customer.email`; or the field of a pasted expression, such as
 * `{{ $('trigger').data_content.total }}`. Empty if the text is neither. As n8n has them, `$json.` may come
 * first, and `body.` before a field of the body of a webhook: that field comes before one within a field
 * `body`.
 */
export function typedField(text: string, sources: Sources): FieldChoice[] {
  const { node, path } = writtenIn(text.trim(), sources);
  const [source] = nearestFirst(sources).filter(({ id }) => node === undefined || id === node);
  if (source === undefined || !PATH.test(path)) return [];
  const steps = [...path.matchAll(/\w+/g)].map(([step]) => (/^\d/.test(step) ? Number(step) : step));
  const isWhole = source.members.some((member) => member === steps[0]);
  const typed = ['nodes', source.id, ...(isWhole ? [] : ['data_content']), ...steps];
  const ofBody = isOfBody(steps, source) ? [['nodes', source.id, 'data_content', ...steps.slice(1)]] : [];
  return [...ofBody, typed].map((field) => otherField(field, sources));
}

const TEMPLATE = /^\{\{\s*(.*?)\s*\}\}$/s;
const REFERENCES = [/^\$\(["'](?<node>\w+)["']\)\.(?<path>.+)$/, /^\$?previous\.(?<path>.+)$/];
const IN_CEL = /^nodes\.(?<node>\w+)\.(?<path>.+)$/;

function writtenIn(text: string, { nodes }: Sources): Written {
  const inner = TEMPLATE.exec(text)?.[1] ?? text;
  const ofN8n = n8nReferenceAt(inner, 0);
  if (ofN8n?.written === inner) {
    // A name that no ID can be is the name of no node.
    const { isNamed, isBody, path, node = isNamed ? '' : undefined } = ofN8n;
    return { node, path: `${isBody ? 'body' : ''}${path}`.replace(/^\./, '') };
  }
  const found = REFERENCES.map((written) => written.exec(inner)).find((match) => match !== null);
  const inCel = IN_CEL.exec(inner);
  // The data may have a field with this name.
  const known = nodes.some(({ id }) => id === inCel?.groups?.['node']) ? inCel : undefined;
  const { node, path = inner } = (found ?? known)?.groups ?? {};
  return { node, path };
}

/** Whether the path begins with the body of the request, and not with a field of it that is named like it. */
function isOfBody([first, ...rest]: readonly PathStep[], { kind, output }: Source): boolean {
  const { data_content: body } = output;
  const hasField = isRecord(body) && Object.hasOwn(body, 'body');
  return kind === 'webhook' && first === 'body' && rest.length > 0 && !hasField;
}

/**
 * The choice that Enter takes: the field that the text names if an output has it, else one of the same node
 * whose name the text begins, else the typed one.
 */
export function meantBy(
  text: string,
  choices: readonly FieldChoice[],
  typed: FieldChoice | undefined,
): string | undefined {
  if (typed === undefined || choices.some(({ cel }) => cel === typed.cel)) return typed?.cel;
  const begins = `.${text.toLowerCase()}`;
  const isBegun = ({ field, label }: FieldChoice): boolean =>
    field[1] === typed.field[1] && `.${label.toLowerCase()}`.includes(begins);
  return (choices.find(isBegun) ?? typed).cel;
}
