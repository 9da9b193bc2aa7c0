/**
 * Says of a credential whether its Secret and keys exist. Secrets are read by name and never followed, since following
 * them would mean the right to read all of them: they are looked at again soon after a change, then less and less often.
 */
import { credentialKind, secretRefs, type CredentialStatus } from '../../api/credential.ts';
import type { Credential } from '../../api/kinds.ts';
import { canonicalJson } from '../../kube/apply.ts';
import { findCondition, setCondition, type ConditionUpdate } from '../../kube/conditions.ts';
import { after, done, type Action, type Key } from '../../kube/controller.ts';
import { isForbidden } from '../../kube/errors.ts';
import { secrets, type Condition } from '../../kube/resource.ts';
import type { OperatorContext } from '../context.ts';
import { lackOfRight } from '../refusal.ts';
import { credentials } from '../resources.ts';
import { checkKeys, type Finding, type SecretKeys } from './check.ts';

const READY_MS = 300_000;
const NOT_READY = { leastMs: 1_000, mostMs: 30_000 };

/** Reconciles the credential of that name. */
export async function reconcileCredential(context: OperatorContext, key: Key): Promise<Action> {
  const { world, clock } = context;
  const credential = await world.credentials.getFresh(key.namespace, key.name);
  if (!credential || credential.metadata.deletionTimestamp !== undefined) return done();
  const ready = await readyCondition(context, credential);
  const list = setCondition(credential.status?.conditions ?? [], ready, clock.date());
  await writeStatus(context, credential, list);
  return after(nextLookMs(findCondition(list, 'Ready'), clock.date()));
}

/** Soon after it turned unready, since objects of one manifest follow each other closely; then with growing patience. */
export function nextLookMs(ready: Condition | undefined, now: Date): number {
  if (ready?.status === 'True') return READY_MS;
  const ageMs = now.getTime() - Date.parse(ready?.lastTransitionTime ?? '');
  return Math.min(Math.max(ageMs / 2 || 0, NOT_READY.leastMs), NOT_READY.mostMs);
}

async function readyCondition(context: OperatorContext, credential: Credential): Promise<ConditionUpdate> {
  const { namespace = '', generation = 0 } = credential.metadata;
  const refs = secretRefs(credential.spec);
  const base = { type: 'Ready', observedGeneration: generation };
  try {
    const found = await readKeys(context, namespace, [...new Set(refs.map(({ name }) => name))]);
    const finding: Finding = checkKeys(namespace, refs, found);
    return { ...base, ...finding };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    context.log.error({ namespace, err: error }, 'the operator lacks a right');
    return { ...base, status: 'False', reason: 'Unauthorized', message: lackOfRight(error) };
  }
}

async function readKeys(
  { client }: OperatorContext,
  namespace: string,
  names: readonly string[],
): Promise<SecretKeys> {
  const found = new Map<string, readonly string[] | undefined>();
  for (const name of names) {
    const secret = await client.find(secrets, { namespace, name });
    found.set(name, secret && Object.keys(secret.data ?? {}));
  }
  return found;
}

async function writeStatus(
  { client, world }: OperatorContext,
  credential: Credential,
  conditions: readonly Condition[],
): Promise<void> {
  const { name, namespace = '', uid, generation = 0 } = credential.metadata;
  const status: CredentialStatus = {
    kind: credentialKind(credential.spec),
    observedGeneration: generation,
    conditions: [...conditions],
  };
  const { kind, observedGeneration, conditions: before } = credential.status ?? {};
  if (canonicalJson({ kind, observedGeneration, conditions: before }) === canonicalJson(status)) return;
  const metadata = { name, namespace, ...(uid !== undefined && { uid }) };
  world.credentials.noteWrite(
    await client.apply(credentials, { metadata, status }, { subresource: 'status' }),
  );
}
