/** Converts drafts to manifests and back without loss, and reports mistakes with their place. Pure. */
import { isAlias, isMap, isNode, isSeq, parseDocument, visit, type Alias, type Document } from 'yaml';
import type { VersionSpec } from '../../../api/version.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { apiVersionOf, WORKFLOWS } from '../../kube/resources.ts';
import { yamlText } from '../../ui/yamlText.ts';
import { edgesOf } from './graph.ts';
import { layoutOf } from './layout.ts';
import type { Draft } from './model.ts';
import { isEqual } from '../../kube/patch.ts';
import { freePlace, type Position } from './place.ts';
import { displayProblemIn } from './displayProblem.ts';

type Mistake = { from: number; to: number; message: string };

/** With or without switches, which the text leaves out. */
type AnySpec = VersionSpec & Partial<Pick<WorkflowSpec, 'active' | 'suspend'>>;

/** `ignored`: the switches in the text, which nothing takes from there. */
export type Reading = { spec: VersionSpec; document: Document; ignored: Mistake[] } | { mistakes: Mistake[] };

/** The manifest without `active` and `suspend`: they take effect at once, and no draft keeps them. */
export function textOf(name: string, spec: AnySpec): string {
  const manifest = {
    apiVersion: apiVersionOf(WORKFLOWS),
    kind: WORKFLOWS.kind,
    metadata: { name },
    spec: inOrder(spec),
  };
  return yamlText(manifest);
}

/**
 * The spec as a manifest has it, without switches: name and description come first, then the nodes. The API
 * server sorts by name.
 */
export function inOrder(spec: AnySpec): object {
  const { displayName, description, nodes, edges, ...rest } = withoutSwitches(spec);
  const members = {
    displayName,
    description,
    nodes: nodes.map(({ id, displayName: title, ...node }) => ({ id, displayName: title, ...node })),
    edges: edges?.map(({ from, to, ...edge }) => ({ from, to, ...edge })),
    ...rest,
  };
  return JSON.parse(JSON.stringify(members)) as object;
}

/**
 * The spec of a manifest, or the mistakes in the text. What only the API server can validate is left to it.
 * Never throws: a text that cannot be read must not take the page, and with it the draft, away.
 */
export function readText(text: string, name: string): Reading {
  try {
    return readDocument(parseDocument(text, { prettyErrors: false, uniqueKeys: true }), name);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { mistakes: [{ from: 0, to: 0, message: `This text cannot be read: ${why}` }] };
  }
}

function readDocument(document: Document, name: string): Reading {
  if (document.errors.length > 0)
    return {
      mistakes: document.errors.map(({ pos: [from, to], message }) => ({
        from,
        to: Math.max(to, from),
        message,
      })),
    };
  const alias = aliasWithoutAnchor(document);
  if (alias !== undefined) return { mistakes: [alias] };
  const mistakes = [...manifestMistakes(document, name), ...graphMistakes(document)];
  if (mistakes.length > 0) return { mistakes };
  const { spec } = document.toJS({ maxAliasCount: 100 }) as { spec: WorkflowSpec };
  const problem = displayProblemIn(spec);
  if (problem === undefined) return { spec: withoutSwitches(spec), document, ignored: switchesIn(document) };
  return { mistakes: [at(document, ['spec', ...problem.path], problem.message)] };
}

const switchesIn = (document: Document): Mistake[] =>
  Object.entries(IGNORED).flatMap(([name, message]) =>
    document.hasIn(['spec', name]) ? [at(document, ['spec', name], message)] : [],
  );

const IGNORED = {
  active: 'A draft does not keep this field: use the toggle Active.',
  suspend: 'A draft does not keep this field: use Suspend and Resume.',
};

/** The first alias of nothing: text that begins with an asterisk, such as in `cron: *x`. */
function aliasWithoutAnchor(document: Document): Mistake | undefined {
  const found: Alias[] = [];
  const anchors = new Set<string>();
  visit(document, {
    Node: (_key, node) => {
      if (isAlias(node) && !anchors.has(node.source)) {
        found.push(node);
        return visit.BREAK;
      }
      if (node.anchor !== undefined) anchors.add(node.anchor);
      return undefined;
    },
  });
  const [alias] = found;
  if (alias === undefined) return undefined;
  const [from, to] = alias.range ?? [0, 0];
  return { from, to, message: `Text that begins with * needs quotation marks: "*${alias.source}".` };
}

/** The range in the text of the value at a path, or of its deepest existing parent. */
export function placeOf(document: Document, path: readonly (string | number)[]): [number, number] {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node: unknown = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return [node.range[0], node.range[1]];
  }
  return [0, 0];
}

/** The draft with this spec, and with its own `active` and `suspend`. Existing nodes keep their positions. */
export function withSpec(draft: Draft, edited: AnySpec): Draft {
  const { active, suspend } = draft.spec;
  const spec = { ...withoutSwitches(edited), active, ...(suspend !== undefined && { suspend }) };
  if (isEqual(draft.spec, spec)) return draft;
  const automatic = layoutOf(spec);
  const ids = new Set(spec.nodes.map(({ id }) => id));
  const kept = Object.entries(draft.positions).filter(([id]) => ids.has(id));
  const positions: Record<string, Position> = Object.fromEntries(kept);
  // An ID may be the name of an inherited member, such as constructor.
  for (const id of ids)
    if (!Object.hasOwn(positions, id))
      positions[id] = freePlace(Object.values(positions), automatic[id] ?? { x: 0, y: 0 });
  return { ...draft, spec, positions };
}

/** The part of a spec that the text has. */
export function withoutSwitches({ active: _active, suspend: _suspend, ...edited }: AnySpec): VersionSpec {
  return edited;
}

function manifestMistakes(document: Document, name: string): Mistake[] {
  const { contents } = document;
  if (!isMap(contents)) return [{ from: 0, to: 0, message: 'This is not a manifest: it has no fields.' }];
  const wanted: [string[], unknown, string][] = [
    [['apiVersion'], apiVersionOf(WORKFLOWS), 'The apiVersion cannot be changed.'],
    [['kind'], WORKFLOWS.kind, 'The kind cannot be changed.'],
    [
      ['metadata', 'name'],
      name,
      `The name cannot be changed from ${name}: Kubernetes objects cannot be renamed. Duplicate the workflow instead.`,
    ],
  ];
  return [
    ...wanted.flatMap(([path, value, message]) =>
      document.getIn(path) === value ? [] : [at(document, path, message)],
    ),
    ...(isSeq(document.getIn(['spec', 'nodes']))
      ? []
      : [at(document, ['spec', 'nodes'], 'spec.nodes must be a list of nodes.')]),
  ];
}

/** Mistakes that the canvas could not show. */
function graphMistakes(document: Document): Mistake[] {
  const { spec } = (document.toJS({ maxAliasCount: 100 }) ?? {}) as { spec?: unknown };
  const { nodes, edges } = (spec ?? {}) as { nodes?: unknown; edges?: unknown };
  if (!Array.isArray(nodes)) return [];
  const ids = nodes.map((node: unknown) => (node as WorkflowNode | null)?.id);
  const wrongNodes = ids.flatMap((id, index) => {
    const path = ['spec', 'nodes', index, 'id'];
    if (typeof id !== 'string' || id === '') return [at(document, path, 'A node needs an ID.')];
    return ids.indexOf(id) === index ? [] : [at(document, path, `Another node already has the ID ${id}.`)];
  });
  if (edges === undefined || wrongNodes.length > 0) return wrongNodes;
  if (!Array.isArray(edges)) return [at(document, ['spec', 'edges'], 'spec.edges must be a list.')];
  return edgesOf({ nodes: nodes as WorkflowNode[], edges }).flatMap((edge, index) =>
    (['from', 'to'] as const).flatMap((end) =>
      ids.includes(edge?.[end])
        ? []
        : [
            at(
              document,
              ['spec', 'edges', index, end],
              'An edge needs "from" and "to", the IDs of two nodes.',
            ),
          ],
    ),
  );
}

function at(document: Document, path: readonly (string | number)[], message: string): Mistake {
  const [from, to] = placeOf(document, path);
  return { from, to, message };
}
