/** The messages of failed nodes and runs in the words of the console. Pure. */
import { EDGE } from '../../forms/place.ts';
import { named, type NodeNames } from '../../workflows/nodeNames.ts';

/** The edge whose condition failed, behind the node and the reason that a message may begin with. */
const CONDITION = new RegExp(String.raw`^((?:node \w+: )?(?:[A-Z]\w+: )?)${EDGE}: when: `);

const NO_NAMES: NodeNames = new Map();

/** An edge is a connection, between nodes with their display names where these are known. */
export function failureText(message: string, names: NodeNames = NO_NAMES): string {
  return message.replace(
    CONDITION,
    (_text, before: string, from: string, to: string) =>
      `${before}Connection ${named(names, from)} → ${named(names, to)}: `,
  );
}

/** The ends of the edge whose condition failed; undefined for any other failure. */
export function failedCondition(message: string): { from: string; to: string } | undefined {
  const [, , from, to] = CONDITION.exec(message) ?? [];
  return from === undefined || to === undefined ? undefined : { from, to };
}
