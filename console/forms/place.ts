/**
 * The place of a problem, as the operator writes it before the problem: `node ask: skill: parameters: url: `,
 * `node ask: agent.prompt: ` or `edge a → b: `. Pure.
 */
import { capitalized } from '../ui/format.ts';

const ID = String.raw`[A-Za-z]\w*`;
const NODE = `node '?(${ID})'?`;
/** The IDs at both ends of an edge. */
export const EDGE = `edge (${ID}) → (${ID})`;
const FIELD = String.raw`((?:(?:[a-z][\w.]*|\d+)(?:\[\d+\])*: )*)`;

/** The ID of the node, and the path to the field. A sentence may go on after the ID: "node ask must have". */
export const NODE_PLACE = new RegExp(`^${NODE}(?:: ?| )${FIELD}`);
/** The IDs at both ends of the edge. */
export const EDGE_PLACE = new RegExp(`^${EDGE}`);
/** Each node in a list of problems, the path to the field, and the "is" of "is missing". */
export const NODE_PLACES = new RegExp(String.raw`(?<=^|[;.] |\n)${NODE}: ${FIELD}(is )?`, 'g');

const PLACE = new RegExp(`^(?:${NODE}|${EDGE}): ${FIELD}`);

/** The problem without its place, beginning with a capital letter where it had one. */
export function withoutPlace(message: string): string {
  const text = message.replace(PLACE, '');
  return text === message ? message : capitalized(text);
}
