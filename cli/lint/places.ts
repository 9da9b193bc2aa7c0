/** Finds the field that a message of the operator's checks is about. */
import type { WorkflowSpec } from '../../api/workflow.ts';
import type { Path } from '../schema/types.ts';
import { stepsTo } from '../../api/fieldPath.ts';
import { isRecord } from '../../api/record.ts';

/**
 * The path of what a message begins with, such as `node mail: skill: parameters: to: …`; as far as it names
 * fields that exist. Of a message about no field, that of the spec.
 */
export function pathOfMessage(message: string, spec: WorkflowSpec): Path {
  const [head = '', ...rest] = message.split(': ');
  const [, node] = /^node (\S+)$/.exec(head) ?? [];
  if (node !== undefined) return inNode(spec, node, rest);
  const [, from, to] = /^edge (\S+) → (\S+)$/.exec(head) ?? [];
  if (from !== undefined) return inEdge(spec, { from, to }, rest);
  return existing(spec, ['spec'], [head]);
}

/**
 * The text in the value at the path that a message is about: the one with the reference that it quotes, or
 * the name of the credential. The path itself if there is none.
 */
export function narrowPath(spec: WorkflowSpec, path: Path, message: string): Path {
  const value = path.slice(1).reduce<unknown>(memberOf, spec);
  const [reference] = REFERENCE.exec(message) ?? [];
  const [, credential] = CREDENTIAL.exec(message) ?? [];
  const found = textsIn(value, path).find(
    ({ text, path: at }) =>
      (reference !== undefined && text.includes(reference)) ||
      (text === credential && at.at(-1) === 'credential'),
  );
  return found?.path ?? path;
}

/** As messages quote it: `$('orders').data_content.id`, `$vars.shop`. */
const REFERENCE = /\$\('[^']*'\)[^\s:,]*|\$[a-z]+\b[^\s:,]*/;
const CREDENTIAL = /\bCredential (\S+) /;

function textsIn(value: unknown, path: Path): { text: string; path: Path }[] {
  if (typeof value === 'string') return [{ text: value, path }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, [...path, index]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => textsIn(member, [...path, name]));
}

function inNode(spec: WorkflowSpec, id: string, fields: readonly string[]): Path {
  const index = spec.nodes.findIndex((node) => node.id === id);
  return index === -1 ? ['spec', 'nodes'] : existing(spec.nodes[index], ['spec', 'nodes', index], fields);
}

function inEdge(
  { edges = [] }: WorkflowSpec,
  { from, to }: { from: string; to: string | undefined },
  fields: readonly string[],
): Path {
  const index = edges.findIndex((edge) => edge.from === from && edge.to === to);
  return index === -1 ? ['spec'] : existing(edges[index], ['spec', 'edges', index], fields);
}

/** The longest part of the fields that exists. A field may be several: `agent.tools[0].parameters`. */
function existing(value: unknown, path: Path, fields: readonly string[]): Path {
  let [at, found] = [value, path];
  for (const part of fields.flatMap(stepsTo)) {
    const next = memberOf(at, part);
    if (next === undefined) break;
    at = next;
    found = [...found, part];
  }
  return found;
}

function memberOf(value: unknown, part: string | number): unknown {
  if (Array.isArray(value)) return typeof part === 'number' ? (value[part] as unknown) : undefined;
  return isRecord(value) && Object.hasOwn(value, part) ? value[part] : undefined;
}
