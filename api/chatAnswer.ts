/** Which node answers the messages of a chat. Pure. */
import { RUN_SCOPE, scopeGraphs, type ScopedNode } from './scopes.ts';
import type { WorkflowNode, WorkflowSpec } from './workflow.ts';

export type ChatAnswer =
  /** The reply of the response node that is reached first. */
  | { kind: 'response' }
  /** The text of this node. */
  | { kind: 'text'; node: string }
  /** A clause that says what is wrong and what to do. */
  | { kind: 'problem'; problem: string };

/** The node that answers; undefined without a chat trigger. `nodes`: those of the spec as scopes see them. */
export function chatAnswerOf(
  spec: Pick<WorkflowSpec, 'nodes' | 'edges'>,
  nodes: readonly ScopedNode[],
): ChatAnswer | undefined {
  const chat = spec.nodes.find((node) => node.chat)?.chat;
  if (!chat) return undefined;
  const response = spec.nodes.find((node) => node.response && !node.disabled);
  if (chat.answer !== undefined) return named(spec.nodes, chat.answer, response?.id);
  if (response) return { kind: 'response' };
  return onlyAgent(terminalAgents(spec, nodes));
}

function named(nodes: readonly WorkflowNode[], id: string, response: string | undefined): ChatAnswer {
  const node = nodes.find((other) => other.id === id);
  if (response === id) return { kind: 'response' };
  if (response !== undefined)
    return problem(`answer names ${id}, but the response node ${response} answers, too: remove one of them`);
  if (!node || node.chat) return problem(`answer names ${id}, which is no step: name a step of the workflow`);
  if (node.disabled) return problem(`answer names ${id}, which is disabled: enable it, or name another step`);
  if (node.within !== undefined || node.forEach || node.group)
    return problem(
      `answer names ${id}, which has no text of its own, because it is a group or executed for items: name a step outside of loops and groups`,
    );
  return { kind: 'text', node: id };
}

function onlyAgent(agents: readonly string[]): ChatAnswer {
  const [agent, ...others] = agents;
  if (agent === undefined)
    return problem(
      'nothing answers the messages: add an agent or a response node at the end, or set answer to the ID of the step whose text is the answer',
    );
  if (others.length > 0)
    return problem(
      `the agents ${agents.join(', ')} could all answer: set answer to the ID of the one whose text is the answer`,
    );
  return { kind: 'text', node: agent };
}

/** The agents of the scope of the run that are executed once, and that no node follows after success. */
function terminalAgents(
  { nodes, edges }: Pick<WorkflowSpec, 'nodes' | 'edges'>,
  scoped: readonly ScopedNode[],
) {
  const root = scopeGraphs(scoped, edges).get(RUN_SCOPE);
  const isLast = (id: string): boolean =>
    (root?.outOf.get(id) ?? []).every(
      ({ after, to }) => after === 'Failure' || (root?.disabled.has(to) === true && isLast(to)),
    );
  return nodes
    .filter(
      ({ id, agent, within, forEach, disabled }) => agent && !disabled && !within && !forEach && isLast(id),
    )
    .map(({ id }) => id);
}

const problem = (text: string): ChatAnswer => ({ kind: 'problem', problem: text });
