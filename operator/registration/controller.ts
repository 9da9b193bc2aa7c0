/**
 * Keeps the webhooks of Telegram's bots as workflows want them: registered while a route has the bot, deleted when none has, and
 * before the Credential goes. The operator decides, and the runners of the project make the calls.
 */
import { botPath } from '../../api/bot.ts';
import type { Credential, WebhookRoute, Workflow } from '../../api/kinds.ts';
import type { RouteSpec } from '../../api/route.ts';
import { findCondition } from '../../kube/conditions.ts';
import { after, done, type Action, type Key } from '../../kube/controller.ts';
import type { Recorder } from '../../kube/events.ts';
import { hashOf } from '../../kube/json.ts';
import { isForbidden } from '../../kube/errors.ts';
import { objectKey } from '../../kube/resource.ts';
import { isUnavailable } from '../../store/connection.ts';
import { REGISTRATIONS, type SeenRegistration } from '../../store/requests/registrations.ts';
import type { OperatorContext } from '../shared/context.ts';
import { hasRunnerFor, readSecrets } from '../credential/facts.ts';
import type { PollHealth } from '../poll/health.ts';
import { explainRefusal } from '../shared/errors.ts';
import type { Caches } from '../shared/caches.ts';
import {
  decideRegistration,
  pending,
  registered as isRegistered,
  registeredIn,
  type RegistrationDecision,
  type Wish,
} from './decide.ts';
import { isMarked, setMark } from './finalizer.ts';
import { projectOf } from '../shared/caches.ts';

/** What is known of the registrations of bots, for those who have something to say of them. */
export type Registrations = Map<string, PollHealth>;

type Followers = {
  events: Pick<Recorder, 'record'>;
  /** How the registration of this Credential's bot is has changed. */
  onChange: (key: Key) => void;
};

/** What is remembered between reconciles; losing it costs words, and time. */
type Memory = {
  /** When this process first saw that a Credential waits to go. */
  goingSince: Map<string, number>;
  /** The time of the last answer whose news were told. */
  toldAt: Map<string, number>;
};

const NEWS_MS = 120_000;

type RegistrationContext = Pick<
  OperatorContext,
  'client' | 'caches' | 'conn' | 'log' | 'clock' | 'registrations' | 'grantedSecrets'
> & { config: Pick<OperatorContext['config'], 'PUBLIC_URL'> };

type Keeper = { context: RegistrationContext; followers: Followers; memory: Memory };

/** Creates the reconciler. */
export function createRegistrationReconciler(
  context: RegistrationContext,
  followers: Followers,
): (key: Key) => Promise<Action> {
  const memory: Memory = { goingSince: new Map(), toldAt: new Map() };
  const keeper = { context, followers, memory };
  return async ({ namespace, name }) => {
    const credential = await context.caches.credentials.getFresh(namespace, name);
    if (!credential) {
      context.registrations.delete(objectKey({ namespace, name }));
      return done();
    }
    return reconcile(keeper, credential);
  };
}

async function reconcile(keeper: Keeper, credential: Credential): Promise<Action> {
  const { context } = keeper;
  const { namespace = '', name, uid = '' } = credential.metadata;
  const route = routeOf(context, credential);
  const wish = wishFor(context, credential, route);
  if (wish === 'nowhere' && !isMarked(credential)) {
    say(keeper, { namespace, name }, undefined);
    return done();
  }
  const project = projectOf(context.caches, namespace);
  const found = project === undefined ? undefined : await REGISTRATIONS.read(context.conn, project, uid);
  const seen = isUnavailable(found) ? undefined : found;
  const gathered = await keyOfWish(context, credential, wish);
  const goingMs = goingFor(keeper, credential);
  const decision = decideRegistration({
    wish,
    isMarked: isMarked(credential),
    isBot: isTelegram(credential),
    key: gathered.key,
    hasRunner: gathered.problem === undefined && hasRunnerFor(context, credential),
    seen,
    ...(goingMs !== undefined && { goingMs }),
  });
  await act(keeper, { credential, route, wish, seen, key: gathered.key, project }, decision).catch(
    (error: unknown) => {
      if (isForbidden(error)) say(keeper, { namespace, name }, unauthorized(error));
      throw error;
    },
  );
  say(keeper, { namespace, name }, gathered.problem ?? decision.health);
  return decision.againMs === undefined ? done() : after(decision.againMs);
}

type Subject = {
  credential: Credential;
  route: WebhookRoute | undefined;
  wish: Wish;
  seen: SeenRegistration | undefined;
  key: string;
  project: string | undefined;
};

async function act(keeper: Keeper, subject: Subject, { ask, release }: RegistrationDecision): Promise<void> {
  const { context, memory } = keeper;
  const { credential } = subject;
  const { uid = '' } = credential.metadata;
  tellNews(keeper, subject);
  if (ask) {
    if (!isMarked(credential)) await setMark(context, credential, true);
    await askFor(keeper, subject, ask);
  }
  if (!release) return;
  const { gaveUp } = release;
  if (gaveUp !== undefined) {
    const note = `The webhook of the bot could not be deleted at Telegram, and stays there: ${gaveUp}.`;
    tell(keeper, subject, 'NotUnregistered', note.replace(/\.\.$/, '.'));
  }
  await setMark(context, credential, false);
  for (const known of [memory.goingSince, memory.toldAt]) known.delete(uid);
}

async function askFor(
  { context }: Keeper,
  { credential, wish, seen, key, project }: Subject,
  ask: NonNullable<RegistrationDecision['ask']>,
): Promise<void> {
  const { conn, config, log } = context;
  const { namespace = '', name, uid = '' } = credential.metadata;
  if (project === undefined) return;
  const registered = registeredIn(seen);
  const own = urlOf(config.PUBLIC_URL, credential);
  const request = {
    key,
    name,
    spec: credential.spec,
    ...(typeof wish === 'object' && { url: wish.at }),
    ours: [...new Set([own, registered?.url ?? own])],
    ...(registered && { registered }),
    ...ask,
  };
  // Where it cannot be asked now, the next look asks.
  const asked = await REGISTRATIONS.ask(conn, project, uid, request);
  log.debug({ namespace, credential: name, outcome: asked.outcome }, 'asked for a bot to be registered');
}

/** What an answer brought that people should know, once. */
function tellNews(keeper: Keeper, subject: Subject): void {
  const { memory } = keeper;
  const { credential, wish, seen, key } = subject;
  const { uid = '' } = credential.metadata;
  const answer = seen?.answer;
  if (answer?.key !== key || memory.toldAt.get(uid) === answer.at) return;
  memory.toldAt.set(uid, answer.at);
  if (!answer.result.works) {
    // Of one that is to be registered the condition of the workflow says it.
    if (wish !== 'nowhere' || answer.failures > 1) return;
    const note = `The webhook of the bot could not be deleted at Telegram. This is tried again: ${answer.result.message}.`;
    return tell(keeper, subject, 'NotUnregistered', note);
  }
  const { mended, left } = answer.result;
  // What is older the operator before this one has told.
  if (seen === undefined || seen.now - answer.at >= NEWS_MS) return;
  if (left !== undefined) {
    const note = `The Credential has another bot now, and the webhook of the one before stays at Telegram: ${left}. Revoke its token (@BotFather, /revoke), or call deleteWebhook with it.`;
    tell(keeper, subject, 'NotUnregistered', note);
  }
  if (mended === undefined) return;
  const note = `Somebody else had changed the webhook of the bot at Telegram: ${mended}. It is registered for this workflow again. Whoever has the token can do that: revoke it (@BotFather, /revoke) if it was nobody of yours.`;
  tell(keeper, subject, 'RegistrationChanged', note);
}

/** At the Credential, and at the workflow that has the bot. */
function tell(
  { context, followers }: Keeper,
  { credential, route }: Subject,
  reason: string,
  note: string,
): void {
  const occurrence = { type: 'Warning', reason, action: 'Register', note } as const;
  followers.events.record(credential, occurrence);
  const workflow = route && context.caches.workflows.get(route.metadata.namespace, route.spec.workflow);
  if (workflow) followers.events.record(workflow, occurrence);
}

function say({ context, followers }: Keeper, key: Key, health: PollHealth | undefined): void {
  const { registrations } = context;
  const before = registrations.get(objectKey(key));
  if (health) registrations.set(objectKey(key), health);
  else registrations.delete(objectKey(key));
  if (before?.message !== health?.message || before?.reason !== health?.reason) followers.onChange(key);
}

/** The route that has the bot. */
function routeOf({ caches }: RegistrationContext, { metadata }: Credential): WebhookRoute | undefined {
  return caches.routes.list(metadata.namespace).find(({ spec }) => spec.bot?.credential === metadata.name);
}

function wishFor(
  { config, caches }: RegistrationContext,
  credential: Credential,
  route: WebhookRoute | undefined,
): Wish {
  if (isGoing(caches, credential) || !isTelegram(credential)) return 'nowhere';
  const bot = route?.spec.bot;
  if (bot === undefined) return 'nowhere';
  // While nobody can be verified, for lack of the token, what is there is no worse than nothing.
  if (bot.verify?.material === undefined) return 'as it is';
  return { at: urlOf(config.PUBLIC_URL, credential) };
}

function urlOf(publicURL: string, { metadata: { namespace = '', name } }: Credential): string {
  return `${publicURL}${botPath(namespace, name)}`;
}

export function isTelegram({ spec }: Pick<Credential, 'spec'>): boolean {
  return spec.bot !== undefined && (spec.bot.platform ?? 'telegram') === 'telegram';
}

/** Another spec, another state of the Secrets and another URL have another one. */
async function keyOfWish(
  context: RegistrationContext,
  { metadata: { namespace = '', uid }, spec }: Credential,
  wish: Wish,
): Promise<{ key: string; problem?: PollHealth }> {
  try {
    const { versions } = await readSecrets(context, namespace, spec);
    return { key: hashOf({ uid, spec, versions, wish }) };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return { key: '', problem: unauthorized(error) };
  }
}

function unauthorized(error: unknown): PollHealth {
  return { status: 'False', reason: 'Unauthorized', message: explainRefusal(error) };
}

/** Whether it is deleted, be it with its namespace: Kubernetes removes the pods of that first, and then there is no runner any more. */
function isGoing({ namespaces }: Pick<Caches, 'namespaces'>, { metadata }: Credential): boolean {
  const namespace = namespaces.get(undefined, metadata.namespace ?? '');
  return [metadata, namespace?.metadata].some((each) => each?.deletionTimestamp !== undefined);
}

/** Reckoned by this process alone: clocks of other machines may differ. */
function goingFor({ context, memory }: Keeper, credential: Credential): number | undefined {
  const { uid = '' } = credential.metadata;
  if (!isGoing(context.caches, credential)) return undefined;
  const now = context.clock.now();
  const since = memory.goingSince.get(uid) ?? now;
  memory.goingSince.set(uid, since);
  return now - since;
}

/**
 * How the bot of a route is registered, as far as this process knows; before its first look what was said before stays. Undefined where
 * nothing is to be registered.
 */
export function registrationHealth(
  { registrations, caches }: Pick<OperatorContext, 'registrations' | 'caches'>,
  { metadata: { namespace = '' }, status }: Workflow,
  route: RouteSpec | undefined,
): PollHealth | undefined {
  const { credential = '', verify } = route?.bot ?? {};
  const found = caches.credentials.get(namespace, credential);
  if (!found || !isTelegram(found) || verify?.material === undefined) return undefined;
  const known = registrations.get(objectKey({ namespace, name: credential }));
  const before = findCondition(status?.conditions, 'TriggerHealthy');
  const isKept = known === undefined && before?.reason === isRegistered.reason;
  return isKept ? isRegistered : (known ?? pending);
}
