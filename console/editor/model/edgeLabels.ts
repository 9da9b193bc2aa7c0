/** The words on the edges of the canvas. Pure. */
import type { WorkflowEdge } from '../../../api/workflow.ts';
import { shortCondition } from '../../forms/condition/label.ts';
import { edgeLabel } from '../../workflows/kinds.ts';
import { edgeId } from './graph.ts';
import { isOtherwise } from './otherwise.ts';

/** The label of an edge, and a short one for where there is less space. */
export type EdgeLabel = { full: string; short: string };

export const NO_LABEL: EdgeLabel = { full: '', short: '' };

/** The widths that labels may have, in pixels of the canvas. */
export const LABEL_WIDTH = { least: 64, most: 240 } as const;
/** The width of a character, and of the space around the text. */
const CHARACTER = 6.6;
const AROUND = 16;

/** The width of a label with this text, about. */
export function widthOfLabel(text: string): number {
  return Math.ceil(text.length * CHARACTER) + AROUND;
}

/** The label that fits into this width, as far as one does. */
export function fittingLabel({ full, short }: EdgeLabel, width: number): string {
  return widthOfLabel(full) <= width ? full : short;
}

/** How many characters of a condition are visible between two near nodes. */
const VISIBLE = 9;
/** A shorter beginning is not worth its replacement. */
const SHORTEST = 4;

/**
 * The label of each edge, by its ID. In `short` ones conditions out of one node begin where they differ.
 */
export function labelsOf(edges: readonly WorkflowEdge[]): Map<string, EdgeLabel> {
  const conditional = edges.filter((edge) => !isOtherwise(edges, edge));
  const commons = new Map(
    [...Map.groupBy(conditional, ({ from }) => from)].map(([from, all]) => [from, commonOf(all)] as const),
  );
  return new Map(
    edges.map((edge) => {
      const { when } = edge;
      if (isOtherwise(edges, edge)) {
        const label = edge.after === 'Failure' ? 'on failure, otherwise' : 'otherwise';
        return [edgeId(edge), { full: label, short: label }];
      }
      if (when === undefined) return [edgeId(edge), { full: edgeLabel(edge), short: edgeLabel(edge) }];
      const condition = shortCondition(edge.from, when);
      const common = commons.get(edge.from) ?? '';
      const short = edgeLabel({ ...edge, when: withoutCommon(condition, common) });
      return [edgeId(edge), { full: edgeLabel({ ...edge, when: condition }), short }];
    }),
  );
}

function withoutCommon(condition: string, common: string): string {
  return common === '' ? condition : `…${condition.slice(common.length)}`;
}

/** The words with which all conditions out of one node begin; empty if they are short, or equal. */
function commonOf(edges: readonly WorkflowEdge[]): string {
  const all = edges.flatMap(({ from, when }) => (when === undefined ? [] : [shortCondition(from, when)]));
  if (new Set(all).size < 2 || all.every(({ length }) => length <= VISIBLE)) return '';
  const [first = '', ...others] = all;
  let { length } = first;
  while (!others.every((other) => other.startsWith(first.slice(0, length)))) length -= 1;
  // Not within a word or a number.
  const common = first.slice(0, length).replace(/(?:\d[\d.]*|\w*)$/, '');
  return common.length < SHORTEST ? '' : common;
}
