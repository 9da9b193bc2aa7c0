/**
 * Keeps the accounts of oauth2 credentials connected. The operator that leads is the only one who talks to token endpoints: it
 * stores what a code or a refresh token brought before anybody uses it, renews before the end, and takes away what a
 * provider has taken back. What it could not store yet it keeps, and asks for nothing new meanwhile.
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
import type { Ask } from './ask.ts';
import { nextLookAt, renewalAt, retryMs } from './due.ts';
import { accountOf, exchangeCode, refresh, revoke, type Issued } from './endpoint.ts';
import { grantOf, isUsable, parseGrant, REFRESH_TOKENS, takenBack, type Grant } from './grant.ts';
import { connectionOfFacts, type Connection } from './say.ts';
import { dropEntries, readStored, saveGrant, showToken, type Stored } from './stored.ts';
import { createTurns } from './turns.ts';
import { missingScopes, neededScopes, wantedScopes } from './wanted.ts';

export type Connections = {
  /** What is known of the connection of a credential; undefined before the first look. */
  of(uid: string | undefined): Connection | undefined;
  /** Looks at a credential: stores, renews, and takes away what is to be. */
  reconcile: (key: Key) => Promise<Action>;
  /** Exchanges a code that a browser brought. Throws a WaitingError where it is not its turn. */
  exchange(code: Code): Promise<void>;
  /** Tells these from now on what happens. */
  follow(on: ConnectionsEvents): void;
};

export type ConnectionsOptions = {
  client: Pick<KubeClient, 'find' | 'create' | 'patch'>;
  caches: Pick<Caches, 'credentials' | 'workflows'>;
  ask: Ask;
  /** The gateway's internal listener, for people. */
  gatewayURL: string;
  log: Log;
  audit: Audit;
  clock: Clock;
};

const NOT_STORED = `what the provider gave could not be stored in the Secret ${REFRESH_TOKENS}: the operator's log says why; it is kept and tried again`;

const MOVED = 'it was connected for another client or for other hosts than the spec names now';

/** Who is to know, and where Events go that people see. */
type ConnectionsEvents = {
  events: Pick<Recorder, 'record'>;
  /** What is known of the connection has changed. */
  onChange: (key: Key) => void;
  /** There is something to store. */
  onBrought: (key: Key) => void;
};

/** What is remembered of a credential. Losing it costs words, and what a provider gave and is not stored yet. */
type Memory = {
  connection?: Connection;
  grant?: Grant | undefined;
  unsaved?: Grant;
  problem?: string;
  failures: number;
  notBefore: number;
};

type Keeper = ConnectionsOptions & {
  on: ConnectionsEvents;
  memories: Map<string, Memory>;
  /** Those that were deleted, with what they were granted: it is to be taken back. */
  gone: { credential: Credential; grant: Grant }[];
};

/** A credential with what there is to say and to remember of it. */
type Subject = { credential: Credential; memory: Memory };

export function createConnections(options: ConnectionsOptions): Connections {
  const on: ConnectionsEvents = {
    events: { record: () => false },
    onChange: () => undefined,
    onBrought: () => undefined,
  };
  const keeper: Keeper = { ...options, on, memories: new Map(), gone: [] };
  const inTurn = createTurns();
  options.caches.credentials.onChange(({ type, object }) => {
    if (type !== 'deleted') return;
    const { uid = '' } = object.metadata;
    const { grant } = keeper.memories.get(uid) ?? {};
    keeper.memories.delete(uid);
    const isToRevoke = object.spec.oauth2 && providerOf(object.spec.oauth2).revocationURL !== undefined;
    if (isToRevoke && grant?.connection === nameOf(object)) keeper.gone.push({ credential: object, grant });
  });
  return {
    of: (uid = '') => keeper.memories.get(uid)?.connection,
    reconcile: (key) => inTurn(key.namespace, () => reconcile(keeper, key)),
    exchange: (code) => inTurn(code.namespace, () => exchange(keeper, code)),
    follow: (followers) => void Object.assign(on, followers),
  };
}

async function reconcile(keeper: Keeper, { namespace, name }: Key): Promise<Action> {
  const { client, caches } = keeper;
  const credential = await caches.credentials.getFresh(namespace, name);
  await takeBack(keeper, { namespace, name });
  const stored = await readStored(client, namespace);
  await sweep(keeper, namespace, stored);
  if (!credential?.spec.oauth2 || credential.metadata.deletionTimestamp !== undefined) return done();
  const subject = subjectOf(keeper, credential);
  const grant = await grantFor(keeper, subject, stored).catch((error: unknown) => {
    if (subject.memory.unsaved) sayUnsaved(keeper, subject, stored);
    throw error;
  });
  subject.memory.grant = grant;
  await showToken(client, credential, stored, grant && isUsable(grant, now(keeper)) ? grant : undefined);
  say(keeper, subject, grant);
  const { notBefore } = subject.memory;
  const lookAt = nextLookAt(credential.metadata.uid ?? '', grant, notBefore, now(keeper));
  return after(lookAt - now(keeper));
}

async function exchange(keeper: Keeper, code: Code): Promise<void> {
  const { caches, log, on } = keeper;
  const credential = caches.credentials.get(code.namespace, code.name);
  if (!credential || credential.metadata.uid !== code.uid) return;
  const { memory } = subjectOf(keeper, credential);
  const { generation } = credential.metadata;
  const isSame = generation === code.generation && nameOf(credential) === code.connection;
  const brought = isSame ? await bringOf(keeper, credential, code) : CHANGED;
  const fields = { ...nameFields(credential), user: code.user };
  keeper.audit.record({
    event: 'credential.connect',
    user: { username: code.user },
    object: { namespace: code.namespace, name: code.name, uid: code.uid },
    // The provider's words are in the operator's log.
    ...(brought.outcome === 'issued' ? { result: 'allowed' } : { result: 'failed', reason: brought.outcome }),
  });
  if (brought.outcome === 'issued') {
    const first = { connection: code.connection, scopes: code.scopes };
    memory.unsaved = grantOf(brought, first, now(keeper));
    settle(memory);
    log.info(fields, 'a credential was connected');
  } else {
    memory.problem = `connecting failed: ${brought.message}`;
    log.warn({ ...fields, reason: brought.message }, 'a credential could not be connected');
    tell(keeper, credential, 'NotConnected', `Connecting failed: ${brought.message}.`);
  }
  on.onBrought(keyOf(credential));
}

function bringOf({ ask }: Keeper, credential: Credential, code: Code): Promise<Issued> {
  return ask(credential, async (asking) => {
    const issued = await exchangeCode(asking, code);
    if (issued.outcome !== 'issued' || issued.account !== undefined) return issued;
    const account = (await accountOf(asking, issued.accessToken)) ?? issued.subject;
    return account === undefined ? issued : { ...issued, account };
  });
}

/** Asks the provider, once, to take back what it has granted to a credential of that name that is gone. */
async function takeBack({ gone, ask, log }: Keeper, { namespace, name }: Key): Promise<void> {
  const at = gone.findIndex(
    ({ credential: { metadata } }) => metadata.namespace === namespace && metadata.name === name,
  );
  const [found] = at < 0 ? [] : gone.splice(at, 1);
  if (!found || found.grant.accessToken === '') return;
  const { accessToken, refreshToken = accessToken } = found.grant;
  const said = await ask(found.credential, (asking) => revoke(asking, refreshToken));
  const reason = typeof said === 'string' ? said : said?.message;
  if (reason === undefined)
    log.info({ namespace, credential: name }, 'a credential is gone, and so is its access');
  else log.warn({ namespace, credential: name, reason }, 'what was granted could not be taken back');
}

/** Takes out what belongs to credentials that are gone, or are of another kind now. */
async function sweep({ client, caches }: Keeper, namespace: string, stored: Stored): Promise<void> {
  const there = caches.credentials.list(namespace).filter(({ spec }) => spec.oauth2);
  const uids = new Set(there.map(({ metadata }) => metadata.uid));
  const names = new Set(there.flatMap(({ metadata: { name } }) => [name, connectionKey(name)]));
  const gone = (keys: Iterable<string>, known: ReadonlySet<string | undefined>): string[] =>
    [...keys].filter((key) => !known.has(key));
  await dropEntries(client, namespace, TOKENS, gone(stored.tokens.keys(), names));
  await dropEntries(client, namespace, REFRESH_TOKENS, gone(stored.grants.keys(), uids));
}

function subjectOf({ memories }: Keeper, credential: Credential): Subject {
  const { uid = '' } = credential.metadata;
  const memory = memories.get(uid) ?? { failures: 0, notBefore: 0 };
  memories.set(uid, memory);
  return { credential, memory };
}

/** The grant of the credential as its spec is now, renewed where it is time. */
async function grantFor(keeper: Keeper, subject: Subject, stored: Stored): Promise<Grant | undefined> {
  const { credential, memory } = subject;
  const { uid = '' } = credential.metadata;
  const known = memory.unsaved
    ? await save(keeper, subject, memory.unsaved)
    : parseGrant(stored.grants.get(uid));
  if (known === undefined) return undefined;
  if (known.connection !== nameOf(credential)) {
    memory.problem ??= MOVED;
    return undefined;
  }
  if (memory.problem === MOVED) delete memory.problem;
  const dueAt = renewalAt(uid, known) ?? Infinity;
  if (now(keeper) < Math.max(dueAt, memory.notBefore)) return known;
  await renew(keeper, subject, known);
  return memory.unsaved ? save(keeper, subject, memory.unsaved) : known;
}

async function save({ client }: Keeper, { credential, memory }: Subject, grant: Grant): Promise<Grant> {
  await saveGrant(client, credential, grant);
  // Unless something newer has come meanwhile.
  if (memory.unsaved === grant) delete memory.unsaved;
  if (memory.problem === NOT_STORED) delete memory.problem;
  return grant;
}

async function renew(keeper: Keeper, { credential, memory }: Subject, grant: Grant): Promise<void> {
  const { refreshToken = '' } = grant;
  const issued = await keeper.ask(credential, (asking) => refresh(asking, refreshToken));
  // Somebody has connected it anew meanwhile, and that counts.
  if (memory.unsaved) return;
  if (issued.outcome === 'issued') {
    memory.unsaved = grantOf(issued, grant, now(keeper));
    settle(memory);
    return;
  }
  const { message } = issued;
  keeper.log.warn({ ...nameFields(credential), reason: message }, 'a token could not be renewed');
  if (issued.outcome === 'refused' && issued.isFinal) {
    settle(memory);
    memory.problem = message;
    memory.unsaved = takenBack(grant);
    const note = `The provider has taken the access back: ${message}. Connect it again.`;
    return tell(keeper, credential, 'NotConnected', note);
  }
  memory.failures += 1;
  memory.notBefore = now(keeper) + retryMs(memory.failures);
  memory.problem = `it could not be renewed: ${message}`;
}

function say(keeper: Keeper, { credential, memory }: Subject, grant: Grant | undefined): void {
  const { caches, clock, gatewayURL, on } = keeper;
  const scopes = wantedScopes(caches, credential);
  const missing = grant === undefined ? [] : missingScopes(neededScopes(caches, credential), grant.scopes);
  const { problem, connection: before } = memory;
  const facts = { credential, grant, scopes, missing, problem, gatewayURL, now: clock.date() };
  memory.connection = connectionOfFacts(facts);
  const { said } = memory.connection;
  const isNews = said.reason === 'Expiring' || (said.reason === 'Expired' && before?.said.status === 'True');
  if (isNews && before?.said.reason !== said.reason) tell(keeper, credential, said.reason, said.message);
  if (canonicalJson(before ?? null) !== canonicalJson(memory.connection)) on.onChange(keyOf(credential));
}

/** What a provider gave is kept and not used, so that what was granted before counts. */
function sayUnsaved(keeper: Keeper, subject: Subject, { grants }: Stored): void {
  const { credential, memory } = subject;
  memory.problem = NOT_STORED;
  const before = parseGrant(grants.get(credential.metadata.uid ?? ''));
  say(keeper, subject, before?.connection === nameOf(credential) ? before : undefined);
}

function tell({ on }: Keeper, credential: Credential, reason: string, note: string): void {
  on.events.record(credential, { type: 'Warning', reason, action: 'Connect', note });
}

function now({ clock }: Keeper): number {
  return clock.date().getTime();
}

const CHANGED: Issued = {
  outcome: 'refused',
  isFinal: true,
  message: 'the credential was changed while it was being connected',
};

function settle(memory: Memory): void {
  memory.failures = 0;
  memory.notBefore = 0;
  delete memory.problem;
}

function nameOf({ spec }: Credential): string {
  return spec.oauth2 ? hashOf(connectionOf(spec.oauth2)) : '';
}

function nameFields({ metadata }: Credential): { namespace: string; credential: string } {
  return { namespace: metadata.namespace ?? '', credential: metadata.name };
}
