/**
 * Puts what callers of webhooks are verified with where the gateway reads it, before a route names it. An entry of the
 * project's Secret never changes: other keys are another entry, with a random name that says nothing of them, so
 * that a gateway that serves a route verifies with the very keys that the route means, or refuses everybody.
 */
import { randomBytes } from 'node:crypto';
import { botSecret, telegramId } from '../../api/bot.ts';
import type { Verification } from '../../api/route.ts';
import { WEBHOOKS, type KeyScheme } from '../../api/webhookAuth.ts';
import { canonicalJson } from '../../kube/json.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import { secrets } from '../../kube/resource.ts';
import type { Caches } from '../shared/caches.ts';
import { readKeys, type KeyProblem } from './keys.ts';
import {
  changedEntries,
  entriesOf,
  isWritten,
  materialOf,
  secretOf,
  type Change,
  type Entries,
  type Owner,
} from './projectSecret.ts';

/** A workflow whose callers are to be verified. */
type Guarded = {
  namespace: string;
  uid: string;
  access: KeyScheme;
  /** Of a bot: the uid of its Credential. */
  credentialUid?: string;
  verify: Pick<Verification, 'secretRefs'>;
  /** The material that the route names now. */
  routed: string | undefined;
  /** The workflow's: whoever changes one has the Secrets looked at again at once. */
  annotations: Record<string, string> | undefined;
};

/** `account`: the id of a Telegram bot, where the token begins with one. */
type Known = { material: string; account?: string };
type Material = ({ ok: true } & Known) | ({ ok: false } & KeyProblem);

export type WebhookSecrets = {
  /** The material of a workflow, which the project's Secret holds; or why there is none, and then it holds none. */
  ensure(guarded: Guarded): Promise<Material>;
  /** Takes out what a workflow had. Call it before the route that says so changes or goes. */
  drop(namespace: string, uid: string): Promise<void>;
};

/** Secrets are read again by the next reconcile after this time: many reconciles follow each other closely. */
const MOST_AGE_MS = 10_000;

type Memory = { of: string; known: Known; at: number };

export function createWebhookSecrets({
  client,
  caches,
  clock,
}: {
  client: Pick<KubeClient, 'find' | 'apply' | 'delete'>;
  caches: Pick<Caches, 'workflows'>;
  clock: Clock;
}): WebhookSecrets {
  const memories = new Map<string, Memory>();
  const inTurn = createTurns();

  const ownersIn = (namespace: string): Owner[] =>
    caches.workflows
      .list(namespace)
      .map(({ metadata }) => ({ name: metadata.name, uid: metadata.uid ?? '' }));

  /** Reads the Secret, has the change made of it, and writes it if it is another one then. */
  async function change(namespace: string, changeOf: (entries: Entries) => Change): Promise<Change> {
    const ref = { namespace, name: WEBHOOKS };
    const before = await client.find(secrets, ref);
    const owners = ownersIn(namespace);
    const made = changeOf(entriesOf(before));
    const entries = changedEntries(entriesOf(before), made, owners);
    const manifest = secretOf(namespace, entries, owners, before);
    if (entries.size > 0) {
      if (!isWritten(before, manifest)) await client.apply(secrets, manifest);
    } else if (before !== undefined) {
      const { uid, resourceVersion } = before.metadata;
      const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
      await client.delete(secrets, ref, { preconditions });
    }
    return made;
  }

  async function ensure(guarded: Guarded): Promise<Material> {
    const { namespace, uid, access, credentialUid = '', verify, routed, annotations } = guarded;
    const of = canonicalJson([access, credentialUid, verify.secretRefs, routed, annotations]);
    const memory = memories.get(uid);
    if (memory?.of === of && clock.now() - memory.at < MOST_AGE_MS) return { ok: true, ...memory.known };
    memories.delete(uid);
    const found = await readKeys(client, namespace, access, verify.secretRefs);
    if (!found.ok) {
      await change(namespace, () => ({ uid }));
      return found;
    }
    const { keys, account } =
      access === 'telegram'
        ? ofTelegram(found.keys, credentialUid)
        : { keys: found.keys, account: undefined };
    const { current } = await change(namespace, (entries) => {
      const material = materialOf(entries, uid, keys, routed) ?? randomBytes(8).toString('hex');
      return { uid, routed, current: { material, keys } };
    });
    const known = { material: current?.material ?? '', ...(account !== undefined && { account }) };
    memories.set(uid, { of, known, at: clock.now() });
    return { ok: true, ...known };
  }

  return {
    ensure: (guarded) => inTurn(guarded.namespace, () => ensure(guarded)),
    drop: (namespace, uid) =>
      inTurn(namespace, async () => {
        memories.delete(uid);
        await change(namespace, () => ({ uid }));
      }),
  };
}

/** The gateway gets what is made of a bot's token, and never the token. */
function ofTelegram(
  tokens: readonly Uint8Array[],
  credentialUid: string,
): { keys: Uint8Array[]; account: string | undefined } {
  const texts = tokens.map((token) => Buffer.from(token).toString('utf8'));
  const keys = texts.map((token) => Buffer.from(botSecret(token, credentialUid), 'utf8'));
  return { keys, account: telegramId(texts[0] ?? '') };
}

/** One after the other within a project: its workflows share the Secret. */
function createTurns(): <T>(namespace: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (namespace, work) => {
    const turn = (last.get(namespace) ?? Promise.resolve()).then(work);
    const ended = turn.catch(() => undefined);
    last.set(namespace, ended);
    await ended;
    if (last.get(namespace) === ended) last.delete(namespace);
    return turn;
  };
}
