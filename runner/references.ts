/** What expressions and conditions in a scope can read: outputs, items, variables and URLs of callbacks. */
import { CALLBACK_PREFIX, callbackToken } from '../api/callback.ts';
import type { NodeOutput, Scope } from '../api/expression/scope.ts';
import { previousOf } from '../api/graph.ts';
import { localTimeOf } from '../api/schedule/zone.ts';
import { type ExecutionState, type Iteration, keyOf, type ScopeState } from './executionState.ts';

/**
 * The scope of references in a node, or in the condition of an edge. `previous`: the ID of the node before,
 * in the graph of the scope.
 */
export function scopeOf(state: ExecutionState, scope: ScopeState, previous: string | undefined): Scope {
  return new References(state, scope, previousIn(scope, previous));
}

/**
 * A class, because an object literal with a getter is made for each node: the engine gives each of them a
 * hidden class of its own, which keeps the run in memory until the next full garbage collection.
 */
class References implements Scope {
  readonly #state: ExecutionState;
  readonly #scope: ScopeState;
  readonly #iteration: Iteration | undefined;
  readonly previous: string | undefined;

  constructor(state: ExecutionState, scope: ScopeState, previous: string | undefined) {
    this.#state = state;
    this.#scope = scope;
    this.#iteration = enclosingIteration(scope, ({ loop }) => loop.items !== undefined);
    this.previous = previous;
  }

  get vars(): Scope['vars'] {
    return this.#state.variables;
  }

  get run(): NonNullable<Scope['run']> {
    return (this.#state.runContext ??= runContextOf(this.#state));
  }

  get item(): unknown {
    return this.#iteration?.item;
  }

  get index(): number | undefined {
    return this.#iteration?.index;
  }

  node(id: string): Partial<NodeOutput> | undefined {
    return findOutput(this.#scope, id);
  }

  url(id: string): string | undefined {
    return callbackURL(this.#state, this.#scope, id);
  }
}

function runContextOf({ claim, namespace, plan }: ExecutionState): NonNullable<Scope['run']> {
  const { run, workflow, acceptedAt, test } = claim.state;
  const { timeZone } = plan;
  return {
    id: run,
    workflow,
    project: namespace,
    accepted: new Date(acceptedAt).toISOString(),
    localTime: localTimeOf(acceptedAt, timeZone),
    timeZone,
    test,
  };
}

/** The URL of the callback of a node in the scope or one around it. */
function callbackURL(
  { callbacks, claim }: ExecutionState,
  scope: ScopeState,
  id: string,
): string | undefined {
  if (!callbacks) return undefined;
  const { project, run, acceptedAt } = claim.state;
  for (let at: ScopeState | undefined = scope; at; at = at.parent) {
    if (!at.graph.nodes.some((node) => node.id === id)) continue;
    const token = callbackToken(project, callbacks.key, { run, acceptedAt, node: keyOf(at, id) });
    return `${callbacks.url}${CALLBACK_PREFIX}${token}`;
  }
  return undefined;
}

/**
 * The ID of the node before. For the first node of an execution it is the node itself if it has `repeat`, so
 * that it reads the execution before; otherwise it is the node before the loop.
 */
function previousIn({ graph, iteration }: ScopeState, previous: string | undefined): string | undefined {
  const isFirst = iteration !== undefined && previous === graph.nodes[0]?.id;
  if (!isFirst || iteration.loop.plan.repeat) return previous;
  const { scope, id } = iteration.loop;
  return previousIn(scope, previousOf(scope.graph, id));
}

/** The innermost iteration around the scope that matches. */
function enclosingIteration(
  scope: ScopeState,
  matches: (iteration: Iteration) => boolean,
): Iteration | undefined {
  for (let at: ScopeState | undefined = scope; at; at = at.parent)
    if (at.iteration && matches(at.iteration)) return at.iteration;
  return undefined;
}

function findOutput(scope: ScopeState, id: string): Partial<NodeOutput> | undefined {
  for (let at: ScopeState | undefined = scope; at; at = at.parent) {
    const output = at.outputs.get(id);
    if (output) return output;
    if (at.iteration && (at.iteration.loop.id === id || at.graph.nodes[0]?.id === id))
      return enclosingOutput(at.iteration);
  }
  return undefined;
}

/** The part of its group that a node of a body can read: the item, and the output of the execution before. */
function enclosingOutput({ loop, item, index, previous }: Iteration): Partial<NodeOutput> {
  return {
    ...(loop.items && { item, index }),
    ...(loop.plan.repeat && { text_content: '', data_content: previous }),
  };
}
