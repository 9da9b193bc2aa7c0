/** Reads n8n exports of all versions. Never throws: what is no workflow is a problem. */
import { type Json, listOf, memberOf, numberOf, objectOf, textOf } from './json.ts';
import type { Link, N8nNode, N8nWorkflow } from './n8n.ts';

export type ReadResult = { workflows: N8nWorkflow[] } | { problem: string };

const MAX_NODES = 2_000;

/** The workflows of an export: one, a list of them, or one within `workflow` or `data`. */
export function readExport(json: unknown, fallbackName: string): ReadResult {
  const found = candidates(json);
  if (found.length === 0)
    return {
      problem: 'this is no n8n workflow: it has no list "nodes". Export the workflow from n8n as JSON',
    };
  const tooLarge = found.find((each) => listOf(each['nodes']).length > MAX_NODES);
  if (tooLarge) return { problem: `the workflow has more than ${MAX_NODES} nodes` };
  return { workflows: found.map((each) => readWorkflow(each, fallbackName)) };
}

function candidates(json: unknown): Json[] {
  if (Array.isArray(json)) return json.flatMap((each) => (hasNodes(each) ? [objectOf(each)] : []));
  for (const value of [
    json,
    memberOf(json, 'workflow'),
    memberOf(json, 'data'),
    memberOf(json, 'workflow.workflow'),
  ])
    if (hasNodes(value)) return [objectOf(value)];
  return [];
}

const hasNodes = (value: unknown): boolean => Array.isArray(memberOf(value, 'nodes'));

function readWorkflow(json: Json, fallbackName: string): N8nWorkflow {
  const nodes = readNodes(listOf(json['nodes']));
  return {
    id: textOf(json['id']),
    name: textOf(json['name'], fallbackName) || fallbackName,
    nodes,
    links: readLinks(json['connections'], json['nodes'], nodes),
    settings: objectOf(json['settings']),
    pins: objectOf(json['pinData']),
  };
}

/** The nodes, each with a name of its own: connections name nodes. */
function readNodes(list: readonly unknown[]): N8nNode[] {
  const names = new Set<string>();
  return list.flatMap((each, index) => {
    const json = objectOf(each);
    if (Object.keys(json).length === 0) return [];
    const written = textOf(json['name']) || `Node ${index + 1}`;
    let name = written;
    for (let count = 2; names.has(name); count += 1) name = `${written} (${count})`;
    names.add(name);
    return [readNode(json, name)];
  });
}

function readNode(json: Json, name: string): N8nNode {
  return {
    name,
    type: textOf(json['type'], 'unknown') || 'unknown',
    version: numberOf(json['typeVersion']) ?? 1,
    parameters: objectOf(json['parameters']),
    credentials: readCredentials(json['credentials']),
    isDisabled: json['disabled'] === true,
    onError: onErrorOf(json),
    retries: retriesOf(json),
    executeOnce: json['executeOnce'] === true,
    alwaysOutputs: json['alwaysOutputData'] === true,
    note: textOf(json['notes']),
  };
}

function onErrorOf(json: Json): N8nNode['onError'] {
  if (json['onError'] === 'continueErrorOutput') return 'error';
  if (json['onError'] === 'continueRegularOutput' || json['continueOnFail'] === true) return 'regular';
  return 'stop';
}

function retriesOf(json: Json): N8nNode['retries'] {
  if (json['retryOnFail'] !== true) return undefined;
  const tries = Math.min(Math.max(numberOf(json['maxTries']) ?? 3, 1), 10);
  return {
    limit: Math.round(tries) - 1,
    pauseMs: Math.min(Math.max(numberOf(json['waitBetweenTries']) ?? 1000, 10), 60_000),
  };
}

/** Old exports have the name alone in place of `{id, name}`. */
function readCredentials(value: unknown): N8nNode['credentials'] {
  const entries = Object.entries(objectOf(value)).map(
    ([type, each]): [string, { id: string; name: string }] => {
      const { id, name } = objectOf(each);
      return [type, { id: textOf(id), name: textOf(name, textOf(each)) || type }];
    },
  );
  return Object.fromEntries(entries.filter(([type]) => type !== '__proto__'));
}

function readLinks(value: unknown, list: unknown, nodes: readonly N8nNode[]): Link[] {
  const names = new Set(nodes.map(({ name }) => name));
  const byId = namesById(list);
  const nameOf = (key: string) => (names.has(key) ? key : (byId.get(key) ?? ''));
  return Object.entries(objectOf(value)).flatMap(([source, kinds]) =>
    Object.entries(objectOf(kinds)).flatMap(([kind, outputs]) =>
      listOf(outputs).flatMap((targets, output) =>
        listOf(targets).flatMap((each): Link[] => {
          const { node, index } = objectOf(each);
          const from = nameOf(source);
          const to = nameOf(textOf(node));
          if (!names.has(from) || !names.has(to)) return [];
          return [{ from, output, to, input: Math.max(0, Math.trunc(numberOf(index) ?? 0)), kind }];
        }),
      ),
    ),
  );
}

/** Some tools write connections by the ID of the node. */
function namesById(list: unknown): Map<string, string> {
  const pairs = listOf(list).map((each): [string, string] => {
    const { id, name } = objectOf(each);
    return [textOf(id), textOf(name)];
  });
  return new Map(pairs.filter(([id]) => id !== ''));
}
