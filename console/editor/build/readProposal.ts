/** Reads the answer of a model as a spec of a workflow. What cannot be a draft is refused. Pure. */
import { parseDocument } from 'yaml';
import { isRecord } from '../../../api/record.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { displayProblemIn } from '../model/displayProblem.ts';
import { readBody } from '../model/storedDraft.ts';
import { hasSecret } from '../model/secrets.ts';
import { inOrderOf } from './inOrderOf.ts';

/** `refusal`: why the answer is no draft, as a sentence for the user and the model. */
export type ReadAnswer = { spec: WorkflowSpec } | { refusal: string };

/** The longest answer that is read, in characters. */
const LONGEST = 100_000;
const DEEPEST = 32;
const MOST_NODES = 100;
const MOST_EDGES = 300;

/** The spec in the answer, with `active` and `suspend` of the draft. */
export function readProposal(answer: string, draft: WorkflowSpec): ReadAnswer {
  if (answer.length > LONGEST)
    return { refusal: `The answer has ${answer.length} characters; at most ${LONGEST} are read.` };
  const value = valueIn(answer);
  const spec = isRecord(value) && isRecord(value['spec']) ? value['spec'] : value;
  if (!isRecord(spec) || !Array.isArray(spec['nodes']))
    return { refusal: 'The answer contains no workflow: an object with "nodes" is expected.' };
  const refusal = shapeProblem(spec, draft);
  if (refusal !== undefined) return { refusal };
  const read = readBody(JSON.stringify({ spec }), draft);
  if (read === undefined)
    return {
      refusal: 'Each node needs an ID of its own, and each edge "from" and "to", the IDs of two nodes.',
    };
  return { spec: inOrderOf(draft, read.spec) as WorkflowSpec };
}

function shapeProblem(spec: Record<string, unknown>, draft: WorkflowSpec): string | undefined {
  const nodes = spec['nodes'] as unknown[];
  if (nodes.length > MOST_NODES)
    return `The workflow has ${nodes.length} nodes; at most ${MOST_NODES} are possible.`;
  const { edges } = spec;
  if (Array.isArray(edges) && edges.length > MOST_EDGES)
    return `The workflow has ${edges.length} edges; at most ${MOST_EDGES} are possible.`;
  const unsafe = unsafeIn(spec, 0);
  if (unsafe !== undefined) return unsafe;
  const problem = displayProblemIn(spec);
  if (problem !== undefined) return `${pathText(problem.path)}: ${problem.message}`;
  return hasSecret(JSON.stringify(spec)) && !hasSecret(JSON.stringify(draft))
    ? 'The answer contains text that looks like a key. Use a credential instead.'
    : undefined;
}

const pathText = (path: readonly (string | number)[]): string =>
  path.map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${step}`)).join('');

/** Names that reach the prototype of an object, and nesting that no workflow needs. */
function unsafeIn(value: unknown, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > DEEPEST) return `The workflow is nested more than ${DEEPEST} levels deep.`;
  const forbidden = Object.keys(value).find((name) => FORBIDDEN.includes(name));
  if (forbidden !== undefined) return `The workflow has a field with the name ${forbidden}.`;
  for (const member of Object.values(value)) {
    const found = unsafeIn(member, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

const FORBIDDEN = ['__proto__', 'constructor', 'prototype'];

/** The value of the whole text, of its first fenced block, or between the outermost braces. */
function valueIn(answer: string): unknown {
  const fenced = /```[a-z]*[^\S\n]*\n([\s\S]*?)```/i.exec(answer)?.[1];
  const [start, end] = [answer.indexOf('{'), answer.lastIndexOf('}')];
  const texts = [answer, fenced, end > start ? answer.slice(start, end + 1) : undefined];
  for (const text of texts) {
    const value = text === undefined ? undefined : parsed(text);
    if (isRecord(value)) return value;
  }
  return undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return parsedYaml(text);
  }
}

/** Aliases could multiply a short text, so that none are read. */
function parsedYaml(text: string): unknown {
  try {
    const document = parseDocument(text, { prettyErrors: false });
    return document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: 0 });
  } catch {
    return undefined;
  }
}
