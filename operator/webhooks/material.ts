/**
 * Writes verification material to the Secret that the gateway reads, before a route names it. An entry of the
 * Secret never changes: other keys are another entry, with a random name, so that a gateway verifies with
 * exactly the keys of the route that it serves, or refuses all callers.
 */
import { randomBytes } from 'node:crypto';
import { botSecret, telegramId } from '../../api/bot.ts';
import type { Verification } from '../../api/route.ts';
import { WEBHOOKS, type KeyScheme } from '../../api/webhookAuth.ts';
import { canonicalJson } from '../../kube/json.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import { secrets, type KubeObject } from '../../kube/resource.ts';
import { LISTENING, type Caches } from '../shared/caches.ts';
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

/** A workflow, or a test run that listens for an event, whose callers must be verified. */
type Guarded = {
  namespace: string;
  uid: string;
  access: KeyScheme;
  /** Of a bot: the uid of its Credential. */
  credentialUid?: string;
  verify: Pick<Verification, 'secretRefs'>;
  /** The material that the route names now. */
  routed: string | undefined;
  /** The workflow's: a change of one has the Secrets read again at once. */
  annotations: Record<string, string> | undefined;
};

/** `account`: the ID of a Telegram bot, if the token begins with one. */
type Known = { material: string; account?: string };
type Material = ({ ok: true } & Known) | ({ ok: false } & KeyProblem);

export type WebhookSecrets = {
  /**
   * Ensures the material of the owner in the project's Secret; if its keys are unusable, removes it and
   * returns why.
   */
  ensure(guarded: Guarded): Promise<Material>;
  /** Removes the material of the owner. Call it before its route changes or is deleted. */
  drop(namespace: string, uid: string): Promise<void>;
};

/** Within this time, reconciles that follow each other closely do not read the Secrets again. */
const MOST_AGE_MS = 10_000;

type Memory = { of: string; known: Known; at: number };

export function createWebhookSecrets({
  client,
  caches,
  clock,
}: {
  client: Pick<KubeClient, 'find' | 'apply' | 'delete'>;
  caches: Pick<Caches, 'workflows' | 'runs'>;
  clock: Clock;
}): WebhookSecrets {
  const memories = new Map<string, Memory>();
  const serialized = createKeyedQueue();

  const ownersIn = (namespace: string): Owner[] => [
    ...caches.workflows.list(namespace).map((workflow) => ownerOf('Workflow', workflow)),
    ...caches.runs.byIndex(LISTENING, namespace).map((run) => ownerOf('WorkflowRun', run)),
  ];

  /** Reads the Secret, applies the change, and writes it if it differs. */
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
    ensure: (guarded) => serialized(guarded.namespace, () => ensure(guarded)),
    drop: (namespace, uid) =>
      serialized(namespace, async () => {
        memories.delete(uid);
        await change(namespace, () => ({ uid }));
      }),
  };
}

function ownerOf(kind: Owner['kind'], { metadata: { name, uid = '' } }: KubeObject): Owner {
  return { kind, name, uid };
}

/** The gateway gets a secret derived from the token of a bot, and never the token. */
function ofTelegram(
  tokens: readonly Uint8Array[],
  credentialUid: string,
): { keys: Uint8Array[]; account: string | undefined } {
  const texts = tokens.map((token) => Buffer.from(token).toString('utf8'));
  const keys = texts.map((token) => Buffer.from(botSecret(token, credentialUid), 'utf8'));
  return { keys, account: telegramId(texts[0] ?? '') };
}

/** Serializes work per project: its workflows share the Secret. */
function createKeyedQueue(): <T>(namespace: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (namespace, work) => {
    const result = (last.get(namespace) ?? Promise.resolve()).then(work);
    const ended = result.catch(() => undefined);
    last.set(namespace, ended);
    await ended;
    if (last.get(namespace) === ended) last.delete(namespace);
    return result;
  };
}
