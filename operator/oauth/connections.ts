/**
 * Keeps the accounts of oauth2 credentials connected. Only the leading operator calls token endpoints. It
 * stores a new grant before runners get its access token, renews tokens before they expire, and removes
 * tokens that a provider revoked. While a grant cannot be stored, it stays in memory and no new one is
 * requested.
 */
import type { Credential } from '../../api/kinds.ts';
import type { Audit } from '../../api/audit/audit.ts';
import { connectionOf, providerOf } from '../../api/provider.ts';
import { connectionKey, TOKENS } from '../../api/token.ts';
import { canonicalJson } from '../../kube/json.ts';
import { after, done, keyOf, type Action, type Key } from '../../kube/controller.ts';
import type { Clock } from '../../kube/clock.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Recorder } from '../../kube/events.ts';
import type { Log } from '../../kube/log.ts';
import { hashOf, type Code } from '../../store/oauth/states.ts';
import type { Caches } from '../shared/caches.ts';
import { createNotifier, type Notifier } from '../shared/notifier.ts';
import type { Ask } from './ask.ts';
import { nextCheckAt, renewalAt, retryMs } from './due.ts';
import { accountOf, exchangeCode, refresh, revoke, type Issued } from './endpoint.ts';
import { grantOf, isUsable, parseGrant, REFRESH_TOKENS, revokedGrant, type Grant } from './grant.ts';
import { connectionOfFacts, type Connection } from './connection.ts';
import { dropEntries, readStored, saveGrant, showToken, type Stored } from './stored.ts';
import { createProjectSemaphore } from './semaphore.ts';
import { missingScopes, neededScopes, requestedScopes } from './scopes.ts';

export type Connections = {
  /** The connection of a credential; undefined before its first reconcile. */
  of(uid: string | undefined): Connection | undefined;
  /** Stores, renews or removes the tokens of a credential. */
  reconcile: (key: Key) => Promise<Action>;
  /**
   * Exchanges a code from a browser. Throws a WaitingError if too many requests of the project are in
   * progress.
   */
  exchange(code: Code): Promise<void>;
  /** Notifies of a credential whose connection changed. */
  changed: Notifier<Key>;
  /** Notifies of a credential with a grant to store. */
  received: Notifier<Key>;
};

export type ConnectionsOptions = {
  client: Pick<KubeClient, 'find' | 'create' | 'patch'>;
  caches: Pick<Caches, 'credentials' | 'workflows'>;
  ask: Ask;
  /** The gateway's internal listener, for people. */
  gatewayURL: string;
  log: Log;
  audit: Audit;
  /** Records Events of the Kubernetes API. */
  events: Pick<Recorder, 'record'>;
  clock: Clock;
};

const NOT_STORED = `the new tokens could not be stored in the Secret ${REFRESH_TOKENS}. The operator tries again; see its log`;

const CONNECTION_CHANGED = 'the spec names another client or other hosts than when it was connected';

/** The state of a credential. Losing it costs texts, and a grant that is not stored yet. */
type Entry = {
  connection?: Connection;
  grant?: Grant | undefined;
  unsaved?: Grant;
  problem?: string;
  failures: number;
  notBefore: number;
};

type State = ConnectionsOptions & {
  changed: Notifier<Key>;
  received: Notifier<Key>;
  /** By uid of the credential. */
  entries: Map<string, Entry>;
  /** Deleted credentials, with grants that are to be revoked. */
  deleted: { credential: Credential; grant: Grant }[];
};

type Subject = { credential: Credential; entry: Entry };

export function createConnections(options: ConnectionsOptions): Connections {
  const [changed, received] = [createNotifier<Key>(), createNotifier<Key>()];
  const state: State = { ...options, changed, received, entries: new Map(), deleted: [] };
  const limited = createProjectSemaphore();
  options.caches.credentials.onChange(({ type, object }) => {
    if (type !== 'deleted') return;
    const { uid = '' } = object.metadata;
    const { grant } = state.entries.get(uid) ?? {};
    state.entries.delete(uid);
    const isToRevoke = object.spec.oauth2 && providerOf(object.spec.oauth2).revocationURL !== undefined;
    if (isToRevoke && grant?.connection === connectionHash(object))
      state.deleted.push({ credential: object, grant });
  });
  return {
    of: (uid = '') => state.entries.get(uid)?.connection,
    reconcile: (key) => limited(key.namespace, () => reconcile(state, key)),
    exchange: (code) => limited(code.namespace, () => exchange(state, code)),
    changed,
    received,
  };
}

async function reconcile(state: State, { namespace, name }: Key): Promise<Action> {
  const { client, caches } = state;
  const credential = await caches.credentials.getFresh(namespace, name);
  await revokeDeleted(state, { namespace, name });
  const stored = await readStored(client, namespace);
  await sweep(state, namespace, stored);
  if (!credential?.spec.oauth2 || credential.metadata.deletionTimestamp !== undefined) return done();
  const subject = subjectOf(state, credential);
  const grant = await grantFor(state, subject, stored).catch((error: unknown) => {
    if (subject.entry.unsaved) reportUnsaved(state, subject, stored);
    throw error;
  });
  subject.entry.grant = grant;
  await showToken(client, credential, stored, grant && isUsable(grant, now(state)) ? grant : undefined);
  report(state, subject, grant);
  const { notBefore } = subject.entry;
  const checkAt = nextCheckAt(credential.metadata.uid ?? '', grant, notBefore, now(state));
  return after(checkAt - now(state));
}

async function exchange(state: State, code: Code): Promise<void> {
  const { caches, log, received } = state;
  const credential = caches.credentials.get(code.namespace, code.name);
  if (!credential || credential.metadata.uid !== code.uid) return;
  const { entry } = subjectOf(state, credential);
  const { generation } = credential.metadata;
  const isSame = generation === code.generation && connectionHash(credential) === code.connection;
  const issued = isSame ? await issuedFor(state, credential, code) : CHANGED;
  const fields = { ...nameFields(credential), user: code.user };
  state.audit.record({
    event: 'credential.connect',
    user: { username: code.user },
    object: { namespace: code.namespace, name: code.name, uid: code.uid },
    // The log has the message of the provider.
    ...(issued.outcome === 'issued' ? { result: 'allowed' } : { result: 'failed', reason: issued.outcome }),
  });
  if (issued.outcome === 'issued') {
    const first = { connection: code.connection, scopes: code.scopes };
    entry.unsaved = grantOf(issued, first, now(state));
    settle(entry);
    log.info(fields, 'connected a credential');
  } else {
    entry.problem = `connecting failed: ${issued.message}`;
    log.warn({ ...fields, reason: issued.message }, 'cannot connect a credential');
    recordWarning(state, credential, 'NotConnected', `Connecting failed: ${issued.message}.`);
  }
  received.notify(keyOf(credential));
}

function issuedFor({ ask }: State, credential: Credential, code: Code): Promise<Issued> {
  return ask(credential, async (asking) => {
    const issued = await exchangeCode(asking, code);
    if (issued.outcome !== 'issued' || issued.account !== undefined) return issued;
    const account = (await accountOf(asking, issued.accessToken)) ?? issued.subject;
    return account === undefined ? issued : { ...issued, account };
  });
}

/** Asks the provider, once, to revoke the grant of a deleted credential of that name. */
async function revokeDeleted({ deleted, ask, log }: State, { namespace, name }: Key): Promise<void> {
  const at = deleted.findIndex(
    ({ credential: { metadata } }) => metadata.namespace === namespace && metadata.name === name,
  );
  const [found] = at < 0 ? [] : deleted.splice(at, 1);
  if (!found || found.grant.accessToken === '') return;
  const { accessToken, refreshToken = accessToken } = found.grant;
  const failed = await ask(found.credential, (asking) => revoke(asking, refreshToken));
  const reason = typeof failed === 'string' ? failed : failed?.message;
  if (reason === undefined)
    log.info({ namespace, credential: name }, 'revoked the grant of a deleted credential');
  else log.warn({ namespace, credential: name, reason }, 'cannot revoke a grant');
}

/** Removes the entries of credentials that were deleted or are of another kind now. */
async function sweep({ client, caches }: State, namespace: string, stored: Stored): Promise<void> {
  const there = caches.credentials.list(namespace).filter(({ spec }) => spec.oauth2);
  const uids = new Set(there.map(({ metadata }) => metadata.uid));
  const names = new Set(there.flatMap(({ metadata: { name } }) => [name, connectionKey(name)]));
  const gone = (keys: Iterable<string>, known: ReadonlySet<string | undefined>): string[] =>
    [...keys].filter((key) => !known.has(key));
  await dropEntries(client, namespace, TOKENS, gone(stored.tokens.keys(), names));
  await dropEntries(client, namespace, REFRESH_TOKENS, gone(stored.grants.keys(), uids));
}

function subjectOf({ entries }: State, credential: Credential): Subject {
  const { uid = '' } = credential.metadata;
  const entry = entries.get(uid) ?? { failures: 0, notBefore: 0 };
  entries.set(uid, entry);
  return { credential, entry };
}

/** The grant for the current spec of the credential, renewed if it is due. */
async function grantFor(state: State, subject: Subject, stored: Stored): Promise<Grant | undefined> {
  const { credential, entry } = subject;
  const { uid = '' } = credential.metadata;
  const known = entry.unsaved
    ? await save(state, subject, entry.unsaved)
    : parseGrant(stored.grants.get(uid));
  if (known === undefined) return undefined;
  if (known.connection !== connectionHash(credential)) {
    entry.problem ??= CONNECTION_CHANGED;
    return undefined;
  }
  if (entry.problem === CONNECTION_CHANGED) delete entry.problem;
  const dueAt = renewalAt(uid, known) ?? Infinity;
  if (now(state) < Math.max(dueAt, entry.notBefore)) return known;
  await renew(state, subject, known);
  return entry.unsaved ? save(state, subject, entry.unsaved) : known;
}

async function save({ client }: State, { credential, entry }: Subject, grant: Grant): Promise<Grant> {
  await saveGrant(client, credential, grant);
  // A newer grant may have arrived meanwhile.
  if (entry.unsaved === grant) delete entry.unsaved;
  if (entry.problem === NOT_STORED) delete entry.problem;
  return grant;
}

async function renew(state: State, { credential, entry }: Subject, grant: Grant): Promise<void> {
  const { refreshToken = '' } = grant;
  const issued = await state.ask(credential, (asking) => refresh(asking, refreshToken));
  // A person connected it again meanwhile: that grant counts.
  if (entry.unsaved) return;
  if (issued.outcome === 'issued') {
    entry.unsaved = grantOf(issued, grant, now(state));
    settle(entry);
    return;
  }
  const { message } = issued;
  state.log.warn({ ...nameFields(credential), reason: message }, 'cannot renew a token');
  if (issued.outcome === 'refused' && issued.isFinal) {
    settle(entry);
    entry.problem = message;
    entry.unsaved = revokedGrant(grant);
    const note = `The provider revoked the access: ${message}. Connect it again.`;
    return recordWarning(state, credential, 'NotConnected', note);
  }
  entry.failures += 1;
  entry.notBefore = now(state) + retryMs(entry.failures);
  entry.problem = `it could not be renewed: ${message}`;
}

function report(state: State, { credential, entry }: Subject, grant: Grant | undefined): void {
  const { caches, clock, gatewayURL, changed } = state;
  const scopes = requestedScopes(caches, credential);
  const missing = grant === undefined ? [] : missingScopes(neededScopes(caches, credential), grant.scopes);
  const { problem, connection: before } = entry;
  const facts = { credential, grant, scopes, missing, problem, gatewayURL, now: clock.date() };
  entry.connection = connectionOfFacts(facts);
  const { finding } = entry.connection;
  const isNews =
    finding.reason === 'Expiring' || (finding.reason === 'Expired' && before?.finding.status === 'True');
  if (isNews && before?.finding.reason !== finding.reason)
    recordWarning(state, credential, finding.reason, finding.message);
  if (canonicalJson(before ?? null) !== canonicalJson(entry.connection)) changed.notify(keyOf(credential));
}

/** A grant that is not stored is not used: the previous one counts. */
function reportUnsaved(state: State, subject: Subject, { grants }: Stored): void {
  const { credential, entry } = subject;
  entry.problem = NOT_STORED;
  const before = parseGrant(grants.get(credential.metadata.uid ?? ''));
  report(state, subject, before?.connection === connectionHash(credential) ? before : undefined);
}

function recordWarning({ events }: State, credential: Credential, reason: string, note: string): void {
  events.record(credential, { type: 'Warning', reason, action: 'Connect', note });
}

function now({ clock }: State): number {
  return clock.date().getTime();
}

const CHANGED: Issued = {
  outcome: 'refused',
  isFinal: true,
  message: 'the credential was changed while it was being connected',
};

function settle(entry: Entry): void {
  entry.failures = 0;
  entry.notBefore = 0;
  delete entry.problem;
}

function connectionHash({ spec }: Credential): string {
  return spec.oauth2 ? hashOf(connectionOf(spec.oauth2)) : '';
}

function nameFields({ metadata }: Credential): { namespace: string; credential: string } {
  return { namespace: metadata.namespace ?? '', credential: metadata.name };
}
