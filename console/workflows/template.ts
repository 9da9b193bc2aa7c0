/** The type of templates, which `windlass:templates` has: the examples of the documentation. */
import { credentialKindsText } from '../credentials/kindLabels.ts';
import type { NodeKind, WorkflowSpec } from '../../api/workflow.ts';
import type { TriggerKind } from '../../api/triggerKinds.ts';

/** A credential that a template needs, and the kinds that it may have. */
export type Need = { name: string; kinds: readonly string[] };

/** A node in the drawing. `isFrame`: it is drawn around the nodes of its body. */
export type DrawnNode = {
  x: number;
  y: number;
  width: number;
  height: number;
  kind: NodeKind;
  label: string;
  isFrame: boolean;
};

/** The graph of a template in its automatic layout, in the pixels of the canvas. */
export type Drawing = {
  width: number;
  height: number;
  nodes: DrawnNode[];
  lines: [from: number, to: number][];
};

export type Template = {
  id: string;
  trigger: TriggerKind;
  /** What it does, in one to three sentences. */
  text: string;
  needs: Need[];
  drawing: Drawing;
  /** Inactive. */
  spec: WorkflowSpec & { displayName: string };
};

/** What each need is called, by its name. The names distinguish needs of equal kinds. */
export function needLabels(needs: readonly Need[]): ReadonlyMap<string, string> {
  const kindsOf = ({ kinds }: Need) => credentialKindsText(kinds);
  const isOnly = (need: Need) => needs.filter((other) => kindsOf(other) === kindsOf(need)).length === 1;
  return new Map(
    needs.map((need) => [need.name, isOnly(need) ? kindsOf(need) : `${kindsOf(need)}: ${need.name}`]),
  );
}

/** The first sentence about a template. */
export function summaryOf({ text }: Pick<Template, 'text'>): string {
  return /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
}

/** The templates that have all words of the query, in their name, text or nodes. */
export function matching(templates: readonly Template[], query: string): Template[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return templates.filter(({ spec, text, drawing }) => {
    const labels = drawing.nodes.map(({ label, kind }) => `${label} ${kind}`);
    const all = [spec.displayName, text, ...labels].join(' ').toLowerCase();
    return words.every((word) => all.includes(word));
  });
}
