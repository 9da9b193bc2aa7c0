/** Hints for searches of nodes that other products have and Windlass has not. */

const HINTS: readonly { words: readonly string[]; hint: string }[] = [
  {
    words: ['if', 'switch', 'branch', 'condition', 'router', 'else', 'filter'],
    hint: 'A condition belongs to a connection, not to a node: add the next nodes, click the connection to one of them, and fill in "Only if".',
  },
  {
    words: ['error', 'catch', 'failure', 'on error'],
    hint: 'To handle a failure, add the node that handles it, click the connection to that node, and choose "When it fails".',
  },
  {
    words: ['merge', 'join'],
    hint: 'Every node can have several incoming connections: connect the branches to the next node.',
  },
];

/** The hint for a searched word; undefined if there is none. */
export function searchHint(text: string): string | undefined {
  const searched = text.trim().toLowerCase();
  return HINTS.find(({ words }) => words.includes(searched))?.hint;
}
