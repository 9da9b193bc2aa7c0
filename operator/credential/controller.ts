/**
 * Reports whether a credential works. Secrets are read by name and not watched, which would need the right to
 * read all of them: they are read again soon after a change, then less and less often. Runners of the project
 * check the account, on request of the operator.
 */
import { clampMs } from '../shared/clampMs.ts';
import { credentialKind, secretRefs, type CredentialStatus } from '../../api/credential.ts';
import type { Credential } from '../../api/kinds.ts';
import { findCondition, setCondition } from '../../kube/conditions.ts';
import { after, done, keyOf, type Action, type Key } from '../../kube/controller.ts';
import { isForbidden } from '../../kube/errors.ts';
import { objectKey, type Condition } from '../../kube/resource.ts';
import { canBeChecked } from '../../nodes/checks.ts';
import { CHECKS } from '../../store/requests/checks.ts';
import type { OperatorContext } from '../shared/context.ts';
import { explainRefusal } from '../shared/errors.ts';
import { credentialRefs } from '../shared/credentialRefs.ts';
import { ifSpecChanged, ownKey, subscribe, watch, type Controller } from '../shared/controller.ts';
import { writeStatus, type Finding } from '../shared/status.ts';
import { changesAvailability, type Pools } from '../pods/pools.ts';
import type { ScalingState } from '../scaling/state.ts';
import type { Connections } from '../oauth/connections.ts';
import { BY_CREDENTIAL, projectOf } from '../shared/caches.ts';
import { checkKeys } from './check.ts';
import { decide, decideConnected, INCOMPLETE, type Decision } from './decide.ts';
import { checkKey } from './checkKey.ts';
import { checkFacts, readSecrets } from './facts.ts';
import { hostsFinding, usedHosts, withHosts } from './hosts.ts';
import { requestedCheck } from './requestedCheck.ts';
import { withChecked, withStalled } from './conditions.ts';

const READY_MS = 300_000;
/** A corrected Secret is detected within 30 seconds. */
const NOT_READY = { leastMs: 1_000, mostMs: 25_000 };
/** If only the time of the last check changed, it is written this often. */
const TIMES_MS = 60_000;

type CredentialContext = OperatorContext & {
  connections: Pick<Connections, 'of' | 'changed'>;
  pools: Pick<Pools, 'grantedSecrets' | 'accessChanged'>;
  scaling: Pick<ScalingState, 'asleep' | 'waking'>;
};

export const credentialController: Controller<CredentialContext> = {
  name: 'credential',
  concurrency: 4,
  watches: [
    watch(({ credentials }) => credentials, ifSpecChanged()),
    watch(
      ({ credentials }) => credentials,
      (credential, change) =>
        change.type === 'updated' && requestedCheck(change.old) !== requestedCheck(credential)
          ? ownKey(credential)
          : [],
    ),
    watch(
      ({ workflows }) => workflows,
      ifSpecChanged(({ metadata: { namespace = '' }, spec }) =>
        credentialRefs(spec).map(({ name }) => ({ namespace, name })),
      ),
    ),
    watch(
      ({ deployments }) => deployments,
      ({ metadata }, change, { credentials }) =>
        changesAvailability(change) ? credentials.list(metadata.namespace).map(keyOf) : [],
    ),
    subscribe(
      ({ pools }: CredentialContext) => pools.accessChanged,
      (namespace, { credentials }) => credentials.list(namespace).map(keyOf),
    ),
    subscribe(
      ({ connections }: CredentialContext) => connections.changed,
      (key) => [key],
    ),
  ],
  reconcile: reconcileCredential,
};

async function reconcileCredential(key: Key, context: CredentialContext): Promise<Action> {
  const { caches, clock } = context;
  const credential = await caches.credentials.getFresh(key.namespace, key.name);
  if (!credential || credential.metadata.deletionTimestamp !== undefined) return done();
  const decision = await decideFor(context, credential);
  const status = { ...statusOf(context, credential, decision), ...shownOf(context, credential) };
  await writeStatus(context, caches.credentials, credential, status);
  return after(nextMs(decision, findCondition(status.conditions, 'Ready'), clock.date()));
}

/**
 * Soon after it became unready, since objects of one manifest follow each other closely; then less and less
 * often.
 */
export function nextCheckMs(ready: Condition | undefined, now: Date): number {
  if (ready?.status === 'True') return READY_MS;
  const ageMs = now.getTime() - Date.parse(ready?.lastTransitionTime ?? '');
  return clampMs(ageMs / 2 || 0, NOT_READY);
}

/** While the result is unknown, new runners and users cause a reconcile: Secrets need not be read again. */
function nextMs({ againMs }: Decision, ready: Condition | undefined, now: Date): number {
  return ready?.status === 'Unknown' ? againMs : Math.min(againMs, nextCheckMs(ready, now));
}

async function decideFor(context: CredentialContext, credential: Credential): Promise<Decision> {
  const { namespace = '', generation = 0 } = credential.metadata;
  try {
    const found = await readSecrets(context, namespace, credential.spec);
    const keys = checkKeys(namespace, secretRefs(credential.spec), found.keys);
    const problem = keys.status === 'False' ? keys : missingHosts(context, credential);
    if (problem) return { finding: problem, checked: INCOMPLETE, againMs: READY_MS };
    const before = findCondition(credential.status?.conditions, 'Ready');
    const works = credential.spec.oauth2 ? connectionFinding(context, credential, before) : keys;
    if (works === undefined) return { isUnchecked: true, againMs: READY_MS };
    if (works.status !== 'True' || !canBeChecked(credential.spec)) {
      const isUnchecked = works.reason === 'Pending';
      return { finding: works, checked: INCOMPLETE, isUnchecked, againMs: READY_MS };
    }
    // Each renewal produces another token.
    const token = context.connections.of(credential.metadata.uid)?.obtainedAt;
    const key = checkKey(credential.spec, found, { token, requested: requestedCheck(credential) });
    const facts = await checkFacts(context, credential, key);
    const decision = credential.spec.oauth2
      ? decideConnected(facts, works, before, generation)
      : decide(facts, before, generation);
    if (decision.ask) await requestCheck(context, credential, { key: facts.key, ...decision.ask });
    return decision;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    context.log.error({ namespace, err: error }, 'the operator lacks a right');
    const message = explainRefusal(error);
    const finding = { status: 'False', reason: 'Unauthorized', message } as const;
    return { finding, checked: INCOMPLETE, againMs: READY_MS };
  }
}

/** A credential of kind http is useless without a host; an account has other uses. */
function missingHosts(context: CredentialContext, credential: Credential): Finding | undefined {
  const hosts = hostsFinding(credential, hostsOfUsers(context, credential));
  return credential.spec.http && hosts?.status === 'False' ? hosts : undefined;
}

function hostsOfUsers({ caches }: OperatorContext, { metadata }: Credential): string[] {
  const { name, namespace = '' } = metadata;
  return usedHosts(caches.workflows.byIndex(BY_CREDENTIAL, objectKey({ namespace, name })), name);
}

/**
 * Whether an account is connected. Undefined if this operator does not know yet: the earlier finding for the
 * same spec stays.
 */
function connectionFinding(
  { connections }: CredentialContext,
  { metadata }: Credential,
  before: Condition | undefined,
): Finding | undefined {
  const connection = connections.of(metadata.uid);
  if (connection) return { ...connection.finding };
  if (before?.observedGeneration === metadata.generation) return undefined;
  return {
    status: 'Unknown',
    reason: 'Pending',
    message: 'The operator has not determined yet whether the account is connected.',
  };
}

async function requestCheck(
  { caches, conn, log }: OperatorContext,
  { metadata, spec }: Credential,
  request: { key: string; failures: number },
): Promise<void> {
  const { namespace = '', name, uid = '' } = metadata;
  const project = projectOf(caches, namespace);
  if (project === undefined) return;
  // If the run store is unavailable, the next reconcile requests it.
  const asked = await CHECKS.ask(conn, project, uid, { ...request, name, spec });
  log.debug({ namespace, credential: name, outcome: asked.outcome }, 'requested a check');
}

type Shown = Pick<CredentialStatus, 'account' | 'expires' | 'connectURL' | 'scopes' | 'grantedScopes'>;

/** The fields about the account; the earlier ones while the connection is unknown. */
function shownOf({ connections }: CredentialContext, { metadata, spec, status }: Credential): Shown {
  const connection = connections.of(metadata.uid);
  if (connection) return connection.shown;
  if (!spec.oauth2 || !status || status.observedGeneration !== metadata.generation) return {};
  const { account, expires, connectURL, scopes, grantedScopes } = status;
  const earlier = { account, expires, connectURL, scopes, grantedScopes };
  return Object.fromEntries(Object.entries(earlier).filter(([, value]) => value !== undefined));
}

type Found = Pick<CredentialStatus, 'account' | 'models' | 'lastChecked'>;

/** The desired status. */
function statusOf(context: CredentialContext, credential: Credential, decision: Decision): CredentialStatus {
  const { finding, answer, isUnchecked = false } = decision;
  const now = context.clock.date();
  const { metadata, spec, status: before } = credential;
  const { generation = 0 } = metadata;
  const granted = isUnchecked ? before?.check : requestedCheck(credential);
  const isSame = granted === before?.check;
  const old = before?.conditions ?? [];
  const withReady = finding
    ? setCondition(old, { type: 'Ready', observedGeneration: generation, ...finding }, now)
    : old;
  const checked = withChecked(withReady, credential, decision, now);
  const list = withStalled(withHosts(checked, credential, hostsOfUsers(context, credential), now), now);
  return {
    kind: credentialKind(spec),
    observedGeneration: generation,
    ...(answer ? foundBy(answer, before, list === old && isSame) : finding ? {} : lastFound(before)),
    ...(granted !== undefined && { check: granted }),
    conditions: [...list],
  };
}

/** The fields that stay while the condition stays. */
function lastFound({ account, models, lastChecked }: CredentialStatus = { conditions: [] }): Found {
  return {
    ...(account !== undefined && { account }),
    ...(models !== undefined && { models }),
    ...(lastChecked !== undefined && { lastChecked }),
  };
}

/** The result of the last check. Its time alone is not written each time. */
function foundBy(
  { at, result }: NonNullable<Decision['answer']>,
  before: CredentialStatus | undefined,
  isSame: boolean,
): Found {
  const written = before?.lastChecked;
  const isRecent = isSame && written !== undefined && at - Date.parse(written) < TIMES_MS;
  return {
    ...(result.works && result.account !== undefined && { account: result.account }),
    ...(result.works && result.models !== undefined && { models: result.models }),
    lastChecked: isRecent ? written : `${new Date(at).toISOString().slice(0, 19)}Z`,
  };
}
