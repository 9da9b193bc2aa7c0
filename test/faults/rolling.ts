/**
 * Rolling restarts of gateway, operator and runners while requests come: none may be refused, reset or
 * answered with an error.
 */
import { windlassNamespace } from '../support/installation/install.ts';
import { kubectl } from '../support/cluster/kubectl.ts';
import type { Violation } from './violation.ts';
import type { Attempt, Measure, SentEvent } from './evidence.ts';
import { underLoad, type FaultRun, type Load as AnyLoad } from './load.ts';
import { isAccepted } from './sender.ts';
import type { Harness } from './harness.ts';
import { targetsOf } from './workflows.ts';

type Load = AnyLoad<Harness>;

export type RollingOptions = {
  harness: Harness;
  /** At least so many requests, and until each Deployment was restarted once. */
  requests: number;
  rate: number;
  tell: (line: string) => void;
};

const ANSWERED_WITHIN_MS = 15_000;

/** Each request is sent once: a sender that repeats would hide what is to be seen. */
export function runRolling({ harness, requests, rate, tell }: RollingOptions): Promise<FaultRun> {
  // No mails and models: at this rate the sinks would be the ones that are slow.
  const quick = ['reply', 'chain'];
  const targets = targetsOf(harness.gateway.publicURL, harness.project).filter(
    ({ workflow, refusal }) => refusal === undefined && quick.includes(workflow),
  );
  return underLoad({ harness, targets, rate, repeats: false, tell }, async (load) => {
    let rounds = 0;
    do {
      await restartAll(load);
      rounds += 1;
    } while (load.sender.events.length < requests);
    // What is under way is answered before it is judged.
    await load.sender.end(ANSWERED_WITHIN_MS);
    load.violations.push(...dropped(load.sender.events));
    load.measures.push(
      { what: 'restarts of gateway, of operator and of runners', seen: `${rounds} of each` },
      ...(['new', 'kept'] as const).map((connection) => answersOn(connection, load.sender.events)),
    );
    return undefined;
  });
}

/** How the requests on connections of that kind were answered. */
function answersOn(connection: Attempt['connection'], events: readonly SentEvent[]): Measure {
  const attempts = events.flatMap((event) => event.attempts).filter((each) => each.connection === connection);
  const accepted = attempts.filter(isAccepted).length;
  const times = attempts.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const at = (share: number) => times[Math.ceil(share * times.length) - 1] ?? Number.NaN;
  return {
    what: `requests on ${connection} connections`,
    seen: `${attempts.length}, of them ${accepted} got 2xx; p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
    promised: 'each gets its 2xx',
  };
}

async function restartAll({ harness, tell }: Load): Promise<void> {
  const deployments = [
    [windlassNamespace, 'windlass-gateway'],
    [windlassNamespace, 'windlass-operator'],
    [harness.project, 'windlass-runner'],
  ] as const;
  for (const [namespace, name] of deployments) {
    const began = performance.now();
    const rollout = (action: string, ...rest: string[]) =>
      kubectl(harness.cluster, ['rollout', action, '-n', namespace, `deployment/${name}`, ...rest], {
        timeoutMs: 130_000,
      });
    await rollout('restart');
    await rollout('status', '--timeout=120s');
    tell(`✓ ${name} was restarted in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  }
}

/** Requests that got anything but 2xx. */
export function dropped(events: readonly SentEvent[]): Violation[] {
  return events.flatMap(({ id, attempts }) =>
    attempts
      .filter((attempt) => !isAccepted(attempt))
      .map(({ status, error, connection }) => ({
        kind: 'dropped' as const,
        event: id,
        message: `${id} on a ${connection} connection: ${status ?? error ?? 'no answer'}`,
      })),
  );
}
