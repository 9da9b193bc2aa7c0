/**
 * The data of a run that its claim does not have. Each read is repeated while the run store is unavailable,
 * until the process ends: the result is undefined then.
 */
import { sleep } from '../kube/clock.ts';
import { readCalls, readItems } from '../runs/items.ts';
import type { Claim, ClaimRef } from '../runs/types/claim.ts';
import type { NodeState } from '../runs/types/node.ts';
import { getVariables, type VariableValues } from '../runs/variables.ts';
import { readCallbackSettings, type CallbackSettings } from '../store/callbacks.ts';
import { isUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import type { ProjectUid } from '../store/keys.ts';
import type { Stored } from './execute.ts';
import { isEnded } from './executionState.ts';
import type { Plan } from './plan.ts';

type ReadDeps = {
  conn: RunStoreConnection;
  project: ProjectUid;
  /** Aborted when the process ends. */
  abandon: AbortSignal;
};

const PAUSE_MS = 1_000;
/** How often callback keys that are missing are read again before a run continues without them. */
const CALLBACK_ATTEMPTS = 10;
const NO_ITEMS: ReadonlyMap<string, NodeState> = new Map();
const NO_CALLS: ReadonlyMap<string, string> = new Map();

/** Whether the run has data that its claim does not have. */
export function hasStored(claim: Claim, plan: Plan): boolean {
  if (plan.hasCallbacks || claim.state.variables !== undefined) return true;
  return hasCalls(claim, plan) || hasOpenLoop(claim, plan);
}

/** The items of loops and the calls of agents in progress, the variables, and the settings of callbacks. */
export async function readStored(deps: ReadDeps, claim: Claim, plan: Plan): Promise<Stored | undefined> {
  const { conn } = deps;
  const ref = claimRefOf(claim);
  const items = hasOpenLoop(claim, plan)
    ? await readUntilAvailable(deps, () => readItems(conn, ref))
    : NO_ITEMS;
  const calls = hasCalls(claim, plan) ? await readUntilAvailable(deps, () => readCalls(conn, ref)) : NO_CALLS;
  const { variables: hash } = claim.state;
  const variables = hash === undefined ? {} : await readVariables(deps, hash);
  const callbacks = plan.hasCallbacks ? await readCallbacks(deps) : undefined;
  return items && calls && variables && { items, calls, variables, callbacks };
}

async function readVariables(deps: ReadDeps, hash: string): Promise<VariableValues | undefined> {
  const found = await readUntilAvailable(deps, () => getVariables(deps.conn, deps.project, hash));
  return found?.values;
}

/** What URLs of callbacks are made of. The operator may not have stored it yet. */
async function readCallbacks({ conn, project, abandon }: ReadDeps): Promise<CallbackSettings | undefined> {
  for (let attempt = 1; !abandon.aborted; attempt += 1) {
    const found = await readCallbackSettings(conn, project);
    if (found.outcome === 'read' || (found.outcome === 'absent' && attempt >= CALLBACK_ATTEMPTS))
      return found.outcome === 'read' ? found.settings : undefined;
    await sleep(PAUSE_MS, abandon);
  }
  return undefined;
}

async function readUntilAvailable<T extends object>(
  { abandon }: Pick<ReadDeps, 'abandon'>,
  read: () => Promise<T | Unavailable>,
): Promise<T | undefined> {
  while (!abandon.aborted) {
    const found = await read();
    if (!isUnavailable(found)) return found;
    await sleep(PAUSE_MS, abandon);
  }
  return undefined;
}

function hasCalls({ state }: Claim, { hasTools }: Plan): boolean {
  return hasTools && state.nodes.length > 0;
}

function hasOpenLoop({ state }: Claim, { steps }: Plan): boolean {
  return state.nodes.some(({ id, phase }) => steps.get(id)?.loop && !isEnded(phase));
}

export function claimRefOf({ state: { project, run, parent }, token }: Claim): ClaimRef {
  return { project, run, token, ...(parent && { parent }) };
}
