/**
 * Says of a credential whether it works. Secrets are read by name and never followed, since following them would mean the
 * right to read all of them: they are looked at again soon after a change, then less and less often. Runners of the project check
 * what a credential leads to, which this asks for.
 */
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
import type { Connections } from '../oauth/connections.ts';
import { BY_CREDENTIAL, projectOf } from '../shared/caches.ts';
import { checkKeys } from './check.ts';
import { decide, decideConnected, INCOMPLETE, type Decision } from './decide.ts';
import { checkFacts, checkKey, readSecrets } from './facts.ts';
import { hostsFinding, usedHosts, withHosts } from './hosts.ts';
import { requestedCheck } from './requestedCheck.ts';
import { withChecked, withStalled } from './conditions.ts';

const READY_MS = 300_000;
/** So that what was mended is seen within half a minute. */
const NOT_READY = { leastMs: 1_000, mostMs: 25_000 };
/** The time of the last check alone is written as often as this. */
const TIMES_MS = 60_000;

type CredentialContext = OperatorContext & {
  connections: Pick<Connections, 'of' | 'changed'>;
  pools: Pick<Pools, 'grantedSecrets' | 'accessChanged'>;
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
  const decision = await judge(context, credential);
  const status = { ...statusOf(context, credential, decision), ...shownOf(context, credential) };
  await writeStatus(context, caches.credentials, credential, status);
  return after(nextMs(decision, findCondition(status.conditions, 'Ready'), clock.date()));
}

/** Soon after it turned unready, since objects of one manifest follow each other closely; then with growing patience. */
export function nextCheckMs(ready: Condition | undefined, now: Date): number {
  if (ready?.status === 'True') return READY_MS;
  const ageMs = now.getTime() - Date.parse(ready?.lastTransitionTime ?? '');
  return Math.min(Math.max(ageMs / 2 || 0, NOT_READY.leastMs), NOT_READY.mostMs);
}

/** What is not known for lack of a user or of a runner is told by them, and not by Secrets. */
function nextMs({ againMs }: Decision, ready: Condition | undefined, now: Date): number {
  return ready?.status === 'Unknown' ? againMs : Math.min(againMs, nextCheckMs(ready, now));
}

async function judge(context: CredentialContext, credential: Credential): Promise<Decision> {
  const { namespace = '', generation = 0 } = credential.metadata;
  try {
    const found = await readSecrets(context, namespace, credential.spec);
    const keys = checkKeys(namespace, secretRefs(credential.spec), found.keys);
    const lacking = keys.status === 'False' ? keys : lackOfHosts(context, credential);
    if (lacking) return { finding: lacking, checked: INCOMPLETE, againMs: READY_MS };
    const before = findCondition(credential.status?.conditions, 'Ready');
    const works = credential.spec.oauth2 ? connectionFinding(context, credential, before) : keys;
    if (works === undefined) return { isUntried: true, againMs: READY_MS };
    if (works.status !== 'True' || !canBeChecked(credential.spec)) {
      const isUntried = works.reason === 'Pending';
      return { finding: works, checked: INCOMPLETE, isUntried, againMs: READY_MS };
    }
    // Each renewal brings another token.
    const token = context.connections.of(credential.metadata.uid)?.obtainedAt;
    const key = checkKey(credential.spec, found, { token, wish: requestedCheck(credential) });
    const facts = await checkFacts(context, credential, key);
    const decision = credential.spec.oauth2
      ? decideConnected(facts, works, before, generation)
      : decide(facts, before, generation);
    if (decision.ask) await ask(context, credential, { key: facts.key, ...decision.ask });
    return decision;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    context.log.error({ namespace, err: error }, 'the operator lacks a right');
    const message = explainRefusal(error);
    const finding = { status: 'False', reason: 'Unauthorized', message } as const;
    return { finding, checked: INCOMPLETE, againMs: READY_MS };
  }
}

/** Without a host nothing can be done with a credential of kind http; an account has other uses. */
function lackOfHosts(context: CredentialContext, credential: Credential): Finding | undefined {
  const hosts = hostsFinding(credential, hostsOfUsers(context, credential));
  return credential.spec.http && hosts?.status === 'False' ? hosts : undefined;
}

function hostsOfUsers({ caches }: OperatorContext, { metadata }: Credential): string[] {
  const { name, namespace = '' } = metadata;
  return usedHosts(caches.workflows.byIndex(BY_CREDENTIAL, objectKey({ namespace, name })), name);
}

/**
 * Of an account: whether it is connected. Whoever keeps it connected wakes the credential. Undefined: an operator that has begun
 * just now does not know yet, and what the one before it said of the same spec stays.
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
    message: 'Waiting for the operator to find out whether the account is connected.',
  };
}

async function ask(
  { caches, conn, log }: OperatorContext,
  { metadata, spec }: Credential,
  request: { key: string; failures: number },
): Promise<void> {
  const { namespace = '', name, uid = '' } = metadata;
  const project = projectOf(caches, namespace);
  if (project === undefined) return;
  // Where it cannot be asked now, the next look asks.
  const asked = await CHECKS.ask(conn, project, uid, { ...request, name, spec });
  log.debug({ namespace, credential: name, outcome: asked.outcome }, 'asked for a check');
}

type Shown = Pick<CredentialStatus, 'account' | 'expires' | 'connectURL' | 'scopes' | 'grantedScopes'>;

/** What is shown of the account; what was, as long as nothing is known of it yet. */
function shownOf({ connections }: CredentialContext, { metadata, spec, status }: Credential): Shown {
  const connection = connections.of(metadata.uid);
  if (connection) return connection.shown;
  if (!spec.oauth2 || !status || status.observedGeneration !== metadata.generation) return {};
  const { account, expires, connectURL, scopes, grantedScopes } = status;
  const kept = { account, expires, connectURL, scopes, grantedScopes };
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
}

type Found = Pick<CredentialStatus, 'account' | 'models' | 'lastChecked'>;

/** What the status shall say. */
function statusOf(context: CredentialContext, credential: Credential, decision: Decision): CredentialStatus {
  const { finding, answer, isUntried = false } = decision;
  const now = context.clock.date();
  const { metadata, spec, status: before } = credential;
  const { generation = 0 } = metadata;
  const obeyed = isUntried ? before?.check : requestedCheck(credential);
  const isSame = obeyed === before?.check;
  const old = before?.conditions ?? [];
  const said = finding
    ? setCondition(old, { type: 'Ready', observedGeneration: generation, ...finding }, now)
    : old;
  const checked = withChecked(said, credential, decision, now);
  const list = withStalled(withHosts(checked, credential, hostsOfUsers(context, credential), now), now);
  return {
    kind: credentialKind(spec),
    observedGeneration: generation,
    ...(answer ? foundBy(answer, before, list === old && isSame) : finding ? {} : lastFound(before)),
    ...(obeyed !== undefined && { check: obeyed }),
    conditions: [...list],
  };
}

/** What stays with a condition that stays. */
function lastFound({ account, models, lastChecked }: CredentialStatus = { conditions: [] }): Found {
  return {
    ...(account !== undefined && { account }),
    ...(models !== undefined && { models }),
    ...(lastChecked !== undefined && { lastChecked }),
  };
}

/** What the last check found. When it was is not told each time, as long as nothing else is new. */
function foundBy(
  { at, result }: NonNullable<Decision['answer']>,
  before: CredentialStatus | undefined,
  isSame: boolean,
): Found {
  const told = before?.lastChecked;
  const isTold = isSame && told !== undefined && at - Date.parse(told) < TIMES_MS;
  return {
    ...(result.works && result.account !== undefined && { account: result.account }),
    ...(result.works && result.models !== undefined && { models: result.models }),
    lastChecked: isTold ? told : `${new Date(at).toISOString().slice(0, 19)}Z`,
  };
}
