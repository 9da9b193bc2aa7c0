/** What nodes have sent, and what failed references found, for the record of the run. */
import { withoutCallbackURLs } from '../api/callback.ts';
import type { FoundBy } from '../api/expression/found.ts';
import type { NodeState, SentParameters } from '../runs/types/node.ts';
import { type ExecutionState, progressOf, type ScopeState } from './executionState.ts';
import { jsonBytes, sentParameters } from './sentParameters.ts';
import { mayBeSensitive, shownOf } from './sentPlan.ts';
import { withModel } from './testRun.ts';

/** Bytes of what all nodes of a run have sent in one runner. */
const SENT_BYTES_OF_RUN = 64 * 1024;
/** In place of a parameter that a sensitive node may give. */
const WITHHELD = '[withheld: from a sensitive node]';

/** What a failed reference found, unless it may be of a sensitive node. */
export function missingShown({ plan }: ExecutionState, id: string, missing: FoundBy): NodeState['missing'] {
  const { recordData, sensitive } = plan;
  if (recordData === 'None' || sensitive.has(id)) return undefined;
  return mayBeSensitive(missing.source, sensitive) ? undefined : missing.found;
}

/** Notes what the attempt of the node has sent. Later attempts send the same. */
export function noteSent(state: ExecutionState, scope: ScopeState, id: string): void {
  const progress = progressOf(scope, id);
  if (progress.sent || progress.mocked) return;
  const sent = sentOf(state, scope, id);
  if (!sent) return;
  const bytes = jsonBytes(sent.parameters);
  if (state.sentBytes + bytes > SENT_BYTES_OF_RUN) return;
  state.sentBytes += bytes;
  scope.progress.set(id, { ...progress, sent });
}

/** What the last attempt of a node has sent; undefined if it is not known, or not shown. */
export function sentOf(state: ExecutionState, scope: ScopeState, id: string): SentParameters | undefined {
  const planned = state.plan.steps.get(id);
  const { fields, mocked, sent } = scope.progress.get(id) ?? {};
  if (!planned?.sent || !fields || mocked) return sent;
  const { withheld } = planned.sent;
  const { claim, plan, secrets } = state;
  const shown = Object.entries(
    shownOf(planned.step, withModel(claim.state, planned.step, fields).fields),
  ).map(([name, value]) => [name, withheld.has(name) ? WITHHELD : value] as const);
  const parameters = Object.fromEntries(shown);
  const safe = plan.hasCallbacks ? withoutCallbackURLs(parameters) : parameters;
  return sentParameters(safe, secrets?.masks() ?? []);
}
