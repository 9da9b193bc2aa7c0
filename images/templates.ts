/**
 * The templates of the console: the examples that are one workflow, inactive and with the host of their demo
 * replaced. So each template is what the documentation describes and the tests execute.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ACCEPTED_CREDENTIALS } from '../api/credentialKinds.ts';
import { isTriggerKind, kindOf, type WorkflowNode, type WorkflowSpec } from '../api/workflow.ts';
import { boxesOf } from '../console/editor/model/frames.ts';
import { edgesOf } from '../console/editor/model/graph.ts';
import { layoutOf } from '../console/editor/model/layout.ts';
import { actionLabel } from '../console/workflows/kinds.ts';
import type { Drawing, Need, Template } from '../console/workflows/template.ts';
import { findSkill } from '../nodes/register.ts';

const EXAMPLES = join(import.meta.dirname, '../examples');
/** Manifests beside the workflow that need not be created with it. */
const BESIDE = new Set(['accounts.yaml', 'evaluation.yaml', 'workflow.yaml']);
const DEMO_HOST = /https?:\/\/[a-z0-9]+\.windlass-demo\.svc(?::\d+)?/g;

/** The templates, those with few nodes first. */
export async function consoleTemplates(): Promise<Template[]> {
  const folders = await readdir(EXAMPLES);
  const found = await Promise.all(folders.map(templateOf));
  const size = ({ spec }: Template) => spec.nodes.length;
  return found
    .filter((template) => template !== undefined)
    .toSorted((one, other) => size(one) - size(other) || (one.id < other.id ? -1 : 1));
}

/** Undefined: the example has several workflows, or more than manifests. */
async function templateOf(id: string): Promise<Template | undefined> {
  const folder = join(EXAMPLES, id);
  const names = (await readdir(folder)).filter((name) => name !== 'README.md');
  if (!names.every((name) => BESIDE.has(name))) return undefined;
  const manifest = (await readFile(join(folder, 'workflow.yaml'), 'utf8')).replaceAll(
    DEMO_HOST,
    'https://api.example.com',
  );
  const { spec } = parse(manifest) as { spec: Template['spec'] };
  const trigger = spec.nodes.map((node) => kindOf(node)).find((kind) => isTriggerKind(kind));
  if (trigger === undefined) throw new Error(`examples/${id} has no trigger`);
  return {
    id,
    trigger,
    text: firstParagraph(await readFile(join(folder, 'README.md'), 'utf8')),
    needs: needsOf(spec.nodes),
    drawing: drawingOf(spec),
    spec: { ...spec, active: false },
  };
}

/** The first paragraph below the title, without links and code marks. */
export function firstParagraph(markdown: string): string {
  const [, paragraph = ''] = markdown.split(/\n\n+/);
  return paragraph
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** The credentials that the nodes name, each with the kinds that all of these nodes accept. */
export function needsOf(nodes: readonly WorkflowNode[]): Need[] {
  const needs = new Map<string, Need>();
  for (const { name, kinds } of nodes.flatMap(namedBy)) {
    const known = needs.get(name)?.kinds ?? kinds;
    needs.set(name, { name, kinds: known.filter((kind) => kinds.includes(kind)) });
  }
  return [...needs.values()];
}

function namedBy(node: WorkflowNode): Need[] {
  const { agent, skill } = node;
  const kind = kindOf(node);
  const own = node[kind] as { credential?: string } | undefined;
  const accepted: Record<string, readonly string[]> = ACCEPTED_CREDENTIALS;
  const tools = (agent?.tools ?? []).map((tool) => need(tool.credential, skillKinds(tool.skill)));
  return [
    need(own?.credential, skill ? skillKinds(skill.name) : (accepted[kind] ?? [])),
    ...(agent?.fallback ?? []).map(({ credential }) => need(credential, ACCEPTED_CREDENTIALS.agent)),
    ...tools,
  ].flat();
}

function need(name: string | undefined, kinds: readonly string[]): Need[] {
  return name === undefined ? [] : [{ name, kinds }];
}

function skillKinds(name: string | undefined): readonly string[] {
  return findSkill(name ?? '')?.credentials ?? [];
}

function drawingOf(spec: WorkflowSpec): Drawing {
  const boxes = boxesOf(spec.nodes, layoutOf(spec));
  const all = spec.nodes.map((node) => ({
    node,
    box: boxes.get(node.id) ?? { x: 0, y: 0, width: 0, height: 0 },
  }));
  const left = Math.min(...all.map(({ box }) => box.x));
  const top = Math.min(...all.map(({ box }) => box.y));
  const at = new Map(spec.nodes.map(({ id }, index) => [id, index]));
  return {
    width: Math.max(...all.map(({ box }) => box.x + box.width)) - left,
    height: Math.max(...all.map(({ box }) => box.y + box.height)) - top,
    nodes: all.map(({ node, box }) => ({
      x: box.x - left,
      y: box.y - top,
      width: box.width,
      height: box.height,
      kind: kindOf(node),
      label: actionLabel(node),
      isFrame: node.group !== undefined,
    })),
    lines: edgesOf(spec).map(({ from, to }) => [at.get(from) ?? 0, at.get(to) ?? 0]),
  };
}
