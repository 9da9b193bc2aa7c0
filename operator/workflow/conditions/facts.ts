/** What the conditions of a workflow are computed from. */
import type { Reason } from '../../../api/conditions.ts';
import type { ConditionUpdate } from '../../../kube/conditions.ts';
import type { Unserved } from '../../bots/take.ts';
import type { CredentialProblem } from '../../credential/problems.ts';
import type { Routing } from '../../gateways/view.ts';
import type { PoolState } from '../../project/readiness.ts';
import type { ScheduleFacts } from '../../schedule/ensure.ts';
import type { Finding } from '../../shared/status.ts';
import type { FullLimit } from '../../store/fullProjects.ts';
import type { KeyProblem } from '../../webhooks/keys.ts';
import type { Violation } from '../checks/check.ts';

/** The result of applying the route. */
export type RouteFacts =
  /** It is the route of the spec. `routing`: the replicas that serve it. */
  | { kind: 'applied'; routing: Routing }
  /** The spec is invalid: it is not in effect. `keeps` is the revision that still serves, if one does. */
  | { kind: 'invalid'; keeps?: string }
  | { kind: 'store-unavailable' }
  /** Another object has the name of the revision. */
  | { kind: 'name-taken'; message: string }
  | { kind: 'unauthorized'; message: string };

/** Everything that the conditions depend on. */
export type Facts = {
  generation: number;
  /** Active and not suspended. */
  active: boolean;
  suspended: boolean;
  /** Unfinished runs that no runner executes, by the last count. */
  waitingRuns: number;
  violations: readonly Violation[];
  /** A sentence for each part of a valid spec that is not in effect as written. */
  notes: readonly string[];
  credentials: readonly CredentialProblem[];
  /** Whether its nodes name any credential. */
  namesCredentials: boolean;
  /** Why callers of the webhook, or senders of messages, cannot be verified: all are refused. */
  unverifiable?: KeyProblem;
  /** Why the messages of the bot start no runs. */
  unserved?: Unserved;
  /** The limit of the run store that the project has reached, so that events are refused. */
  full?: FullLimit;
  pool: PoolState;
  /** Of an active workflow with a schedule. */
  schedule?: ScheduleFacts;
  /** Of an active workflow whose trigger is polled, or whose bot is to be registered. */
  poll?: Finding;
  route: RouteFacts;
  /** The message of `Ready=True` of an active workflow. */
  serving: string;
};

export type Update = Omit<ConditionUpdate, 'observedGeneration' | 'reason'> & { reason: Reason };

/** Problems that one message names at most. */
export const SHOWN = 10;

/** The messages of the problems, as one text. */
export function listed(problems: readonly { message: string }[]): string {
  const shown = problems.slice(0, SHOWN).map(({ message }) => message);
  const rest = problems.length - shown.length;
  return rest > 0 ? `${shown.join('; ')}; and ${rest} more` : shown.join('; ');
}
