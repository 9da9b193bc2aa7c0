/**
 * Registers the webhooks of Telegram bots that routes use, and deletes those of bots that no route uses,
 * before their Credential is deleted. The operator decides; runners of the project call Telegram.
 */
import { botPath } from '../../api/bot.ts';
import type { Credential, WebhookRoute } from '../../api/kinds.ts';
import { after, done, keyOf, type Action, type Key } from '../../kube/controller.ts';
import { isForbidden } from '../../kube/errors.ts';
import { hashOf } from '../../kube/json.ts';
import { objectKey } from '../../kube/resource.ts';
import { isUnavailable } from '../../store/connection.ts';
import { REGISTRATIONS, type SeenRegistration } from '../../store/requests/registrations.ts';
import { hasRunnerFor, readSecrets, type Serving } from '../credential/facts.ts';
import { changesAvailability, type Pools } from '../pods/pools.ts';
import { isAsleep } from '../scaling/asleep.ts';
import { projectOf, type Caches } from '../shared/caches.ts';
import type { OperatorContext } from '../shared/context.ts';
import { ifSpecChanged, ownKey, subscribe, watch, type Controller } from '../shared/controller.ts';
import { explainRefusal } from '../shared/errors.ts';
import type { Finding } from '../shared/status.ts';
import {
  decideRegistration,
  registeredIn,
  type DesiredRegistration,
  type RegistrationDecision,
} from './decide.ts';
import { hasFinalizer, setFinalizer } from './finalizer.ts';
import { isTelegram, type Registrations } from './registrations.ts';

/** An answer that is older was reported by the operator before this one. */
const REPORTED_WITHIN_MS = 120_000;

type RegistrationContext = Pick<
  OperatorContext,
  'client' | 'caches' | 'config' | 'conn' | 'events' | 'log' | 'clock'
> &
  Serving & { registrations: Registrations };

type WatchContext = RegistrationContext & { pools: Pick<Pools, 'accessChanged'> };

export const registrationController: Controller<WatchContext> = {
  name: 'registration',
  concurrency: 4,
  watches: [
    watch(
      ({ credentials }) => credentials,
      ifSpecChanged((credential) => (isBot(credential) ? ownKey(credential) : [])),
    ),
    watch(
      ({ routes }) => routes,
      ifSpecChanged(({ metadata: { namespace = '' }, spec }) =>
        spec.bot ? [{ namespace, name: spec.bot.credential }] : [],
      ),
    ),
    watch(
      ({ deployments }) => deployments,
      ({ metadata }, change, caches) =>
        changesAvailability(change) ? botsIn(caches, metadata.namespace).map(keyOf) : [],
    ),
    watch(
      ({ namespaces }) => namespaces,
      ({ metadata: { name, deletionTimestamp } }, _change, caches) =>
        deletionTimestamp === undefined ? [] : botsIn(caches, name).map(keyOf),
    ),
    subscribe(
      ({ pools }: WatchContext) => pools.accessChanged,
      (namespace, { credentials }) => credentials.list(namespace).filter(isTelegram).map(keyOf),
    ),
  ],
  reconcile: reconcileRegistration,
};

/** Whether the Credential is a bot of Telegram, or one may still be registered. */
function isBot(credential: Credential): boolean {
  return isTelegram(credential) || hasFinalizer(credential);
}

function botsIn({ credentials }: Pick<Caches, 'credentials'>, namespace: string | undefined): Credential[] {
  return credentials.list(namespace).filter(isBot);
}

/** Has the webhook of the bot of a Credential registered or deleted, as its project needs it. */
export async function reconcileRegistration(
  { namespace, name }: Key,
  context: RegistrationContext,
): Promise<Action> {
  const credential = await context.caches.credentials.getFresh(namespace, name);
  if (credential) return reconcileBot(context, credential);
  context.registrations.health.delete(objectKey({ namespace, name }));
  return done();
}

async function reconcileBot(context: RegistrationContext, credential: Credential): Promise<Action> {
  const { namespace = '', name, uid = '' } = credential.metadata;
  const route = routeOf(context, credential);
  const desired = desiredFor(context, credential, route);
  if (desired === 'none' && !hasFinalizer(credential)) {
    setHealth(context, { namespace, name }, undefined);
    return done();
  }
  const project = projectOf(context.caches, namespace);
  const found = project === undefined ? undefined : await REGISTRATIONS.read(context.conn, project, uid);
  const seen = isUnavailable(found) ? undefined : found;
  const { key, problem } = await keyOfDesired(context, credential, desired);
  const deletingMs = deletingFor(context, credential);
  const decision = decideRegistration({
    desired,
    hasFinalizer: hasFinalizer(credential),
    isBot: isTelegram(credential),
    key,
    hasRunner: problem === undefined && hasRunnerFor(context, credential),
    isAsleep: isAsleep(context, namespace),
    seen,
    ...(deletingMs !== undefined && { deletingMs }),
  });
  await apply(context, { credential, route, desired, seen, key, project }, decision).catch(
    (error: unknown) => {
      if (isForbidden(error)) setHealth(context, { namespace, name }, unauthorized(error));
      throw error;
    },
  );
  setHealth(context, { namespace, name }, problem ?? decision.health);
  return decision.againMs === undefined ? done() : after(decision.againMs);
}

type Subject = {
  credential: Credential;
  route: WebhookRoute | undefined;
  desired: DesiredRegistration;
  seen: SeenRegistration | undefined;
  key: string;
  project: string | undefined;
};

async function apply(
  context: RegistrationContext,
  subject: Subject,
  { ask, release }: RegistrationDecision,
): Promise<void> {
  const { credential } = subject;
  const { uid = '' } = credential.metadata;
  reportAnswer(context, subject);
  if (ask) {
    if (!hasFinalizer(credential)) await setFinalizer(context, credential, true);
    await request(context, subject, ask);
  }
  if (!release) return;
  const { gaveUp } = release;
  if (gaveUp !== undefined) {
    const note = `The webhook of the bot could not be deleted at Telegram, and stays there: ${gaveUp}.`;
    report(context, subject, 'NotUnregistered', note.replace(/\.\.$/, '.'));
  }
  await setFinalizer(context, credential, false);
  const { deletingSince, reportedAt } = context.registrations;
  for (const known of [deletingSince, reportedAt]) known.delete(uid);
}

/** Requests the registration, or the deletion, from the runners of the project. */
async function request(
  { conn, config, log }: RegistrationContext,
  { credential, desired, seen, key, project }: Subject,
  ask: NonNullable<RegistrationDecision['ask']>,
): Promise<void> {
  const { namespace = '', name, uid = '' } = credential.metadata;
  if (project === undefined) return;
  const registered = registeredIn(seen);
  const own = urlOf(config.PUBLIC_URL, credential);
  const asked = await REGISTRATIONS.ask(conn, project, uid, {
    key,
    name,
    spec: credential.spec,
    ...(typeof desired === 'object' && { url: desired.url }),
    ours: [...new Set([own, registered?.url ?? own])],
    ...(registered && { registered }),
    ...ask,
  });
  // If the run store is unavailable, the next reconcile requests it.
  log.debug({ namespace, credential: name, outcome: asked.outcome }, 'requested a bot registration');
}

/** Records Events about an answer of a runner, once. */
function reportAnswer(context: RegistrationContext, subject: Subject): void {
  const { reportedAt } = context.registrations;
  const { credential, desired, seen, key } = subject;
  const { uid = '' } = credential.metadata;
  const answer = seen?.answer;
  if (answer?.key !== key || reportedAt.get(uid) === answer.at) return;
  reportedAt.set(uid, answer.at);
  if (!answer.result.works) {
    // If the bot is to be registered, the condition of the workflow reports it.
    if (desired !== 'none' || answer.failures > 1) return;
    const note = `The webhook of the bot could not be deleted at Telegram: ${answer.result.message}. The operator tries again.`;
    return report(context, subject, 'NotUnregistered', note);
  }
  const { mended, left } = answer.result;
  if (seen === undefined || seen.now - answer.at >= REPORTED_WITHIN_MS) return;
  if (left !== undefined) {
    const note = `The Credential has the token of another bot now, and the webhook of the previous bot stays at Telegram: ${left}. Revoke its token (@BotFather, /revoke), or call deleteWebhook with it.`;
    report(context, subject, 'NotUnregistered', note);
  }
  if (mended === undefined) return;
  const note = `Another program changed the webhook of the bot at Telegram: ${mended}. The bot is registered for this workflow again. If you do not know that program, revoke the token (@BotFather, /revoke).`;
  report(context, subject, 'RegistrationChanged', note);
}

/** Records an Event of the Credential, and of the workflow that has the bot. */
function report(
  { caches, events }: RegistrationContext,
  { credential, route }: Subject,
  reason: string,
  note: string,
): void {
  const occurrence = { type: 'Warning', reason, action: 'Register', note } as const;
  events.record(credential, occurrence);
  const workflow = route && caches.workflows.get(route.metadata.namespace, route.spec.workflow);
  if (workflow) events.record(workflow, occurrence);
}

function setHealth({ registrations }: RegistrationContext, key: Key, health: Finding | undefined): void {
  const name = objectKey(key);
  const before = registrations.health.get(name);
  if (health) registrations.health.set(name, health);
  else registrations.health.delete(name);
  if (before?.message !== health?.message || before?.reason !== health?.reason)
    registrations.changed.notify(key);
}

/** The route that has the bot. */
function routeOf({ caches }: RegistrationContext, { metadata }: Credential): WebhookRoute | undefined {
  return caches.routes.list(metadata.namespace).find(({ spec }) => spec.bot?.credential === metadata.name);
}

function desiredFor(
  { config, caches }: RegistrationContext,
  credential: Credential,
  route: WebhookRoute | undefined,
): DesiredRegistration {
  if (isDeleting(caches, credential) || !isTelegram(credential)) return 'none';
  const bot = route?.spec.bot;
  if (bot === undefined) return 'none';
  // Without the token no sender can be verified: the current registration does no harm.
  if (bot.verify?.material === undefined) return 'unchanged';
  return { url: urlOf(config.PUBLIC_URL, credential) };
}

function urlOf(publicURL: string, { metadata: { namespace = '', name } }: Credential): string {
  return `${publicURL}${botPath(namespace, name)}`;
}

/** Identifies the spec, the versions of the Secrets and the desired URL. */
async function keyOfDesired(
  context: RegistrationContext,
  { metadata: { namespace = '', uid }, spec }: Credential,
  desired: DesiredRegistration,
): Promise<{ key: string; problem?: Finding }> {
  try {
    const { versions } = await readSecrets(context, namespace, spec);
    return { key: hashOf({ uid, spec, versions, desired }) };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return { key: '', problem: unauthorized(error) };
  }
}

function unauthorized(error: unknown): Finding {
  return { status: 'False', reason: 'Unauthorized', message: explainRefusal(error) };
}

/**
 * Whether the Credential or its namespace is being deleted: Kubernetes removes the pods of a namespace first.
 */
function isDeleting({ namespaces }: Pick<Caches, 'namespaces'>, { metadata }: Credential): boolean {
  const namespace = namespaces.get(undefined, metadata.namespace ?? '');
  return [metadata, namespace?.metadata].some((each) => each?.deletionTimestamp !== undefined);
}

/** For how long, by the clock of this process: clocks of other machines may differ. */
function deletingFor(
  { caches, clock, registrations }: RegistrationContext,
  credential: Credential,
): number | undefined {
  const { uid = '' } = credential.metadata;
  if (!isDeleting(caches, credential)) return undefined;
  const now = clock.now();
  const since = registrations.deletingSince.get(uid) ?? now;
  registrations.deletingSince.set(uid, since);
  return now - since;
}
