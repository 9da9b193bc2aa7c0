/** The message of a run that a node ended: `node ask: Unreachable: …`. Pure. */

/** The message in two parts: the ID of the node that it begins with, and what follows it. */
export function messageParts(message: string): { node: string; rest: string } | undefined {
  const [, node, rest] = /^node (\w+): (.*)$/s.exec(message) ?? [];
  return node === undefined || rest === undefined ? undefined : { node, rest };
}

/** The message without this node, where the text around it names the node already. */
export function withoutNode(message: string, id: string): string {
  const parts = messageParts(message);
  return parts?.node === id ? parts.rest : message;
}
