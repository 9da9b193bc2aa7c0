/** Hints for searches of nodes that other products have and Windlass has not. */

const HINTS: readonly { words: readonly string[]; hint: string }[] = [
  {
    words: ['if', 'switch', 'branch', 'condition', 'router', 'else', 'filter'],
    hint: 'Conditions are on connections: click a connection to choose when it is taken ("Only if"). Switch, behind the + of a node, adds several branches with their conditions.',
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
