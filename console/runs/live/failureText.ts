/** The messages of failed nodes and runs in the words of the console. Pure. */
import { EDGE } from '../../forms/place.ts';
import { named, type NodeNames } from '../../workflows/nodeNames.ts';

/** The edge whose condition failed, behind the node and the reason that a message may begin with. */
const CONDITION = new RegExp(String.raw`^((?:node \w+: )?(?:[A-Z]\w+: )?)${EDGE}: when: `);

const NO_NAMES: NodeNames = new Map();

/**
 * The message, in which an edge is a connection and its nodes have their display names, if `names` has them.
 */
export function failureText(message: string, names: NodeNames = NO_NAMES): string {
  return message.replace(
    CONDITION,
    (_text, before: string, from: string, to: string) => `${before}${connectionText(names, from, to)}: `,
  );
}

function connectionText(names: NodeNames, from: string, to: string): string {
  return `Connection ${named(names, from)} → ${named(names, to)}`;
}

/**
 * The places that a message begins with: nodes with their reasons, items of loops, and an edge whose
 * condition failed.
 */
const PLACE = new RegExp(String.raw`^(?:node (\w+): (?:[A-Z]\w+: (?=.))?|(item \d+): |${EDGE}: when: )`, 's');

/**
 * Splits a message into what failed and where, from the outermost place to the innermost, for lists that show
 * the cause first. Leaves out the reasons of nodes.
 */
export function failureParts(
  message: string,
  names: NodeNames = NO_NAMES,
): { cause: string; places: string[] } {
  const places: string[] = [];
  let cause = message;
  for (let found = PLACE.exec(cause); found !== null; found = PLACE.exec(cause)) {
    const [place, node, item, from = '', to = ''] = found;
    places.push(item ?? (node === undefined ? connectionText(names, from, to) : named(names, node)));
    cause = cause.slice(place.length);
  }
  return { cause, places };
}

/** The ends of the edge whose condition failed; undefined for any other failure. */
export function failedCondition(message: string): { from: string; to: string } | undefined {
  const [, , from, to] = CONDITION.exec(message) ?? [];
  return from === undefined || to === undefined ? undefined : { from, to };
}
