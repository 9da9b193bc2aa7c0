/**
 * Stores a credential and its secret values, with the rights of whoever is signed in: everything is checked first, then the Secret is
 * written, then the Credential. What fails in between leaves no secret value behind that nothing names.
 */
import { ANNOTATION } from '../../api/group.ts';
import type { CredentialKind, CredentialSpec } from '../../api/credential.ts';
import { childName } from '../../api/names.ts';
import { ApiFailure } from '../http/failure.ts';
import { createObject, getObject, patchObject } from '../kube/objects.ts';
import {
  apiVersionOf,
  CREDENTIALS,
  SECRETS,
  type CredentialObject,
  type SecretObject,
} from '../kube/resources.ts';
import { mergePatch, type Built } from './build.ts';

type At = { namespace: string; name: string };
/** What is built depends on the name of the Secret that holds what was typed. */
type Build = (secretName: string) => Built;

/** On a Secret that the console made: the credential that it is for. */
const FOR = 'windlass.dev/credential';
const MANAGED_BY = 'app.kubernetes.io/managed-by';

/** The name that the Secret of a credential has where nobody else has it. */
export function secretNameOf(credential: string): string {
  return childName(credential, 'secret', 253);
}

/** Makes the credential. Throws an ApiFailure; then neither it nor a secret value of it is there. */
export async function createCredential(
  at: At,
  kind: CredentialKind,
  build: Build,
): Promise<CredentialObject> {
  const { secretName, isOurs } = await secretFor(at);
  const { account, own } = build(secretName);
  const annotations = { [ANNOTATION.check]: wishNow() };
  const object = {
    metadata: { ...at, annotations },
    spec: { [kind]: account } as CredentialSpec,
  };
  await createObject(CREDENTIALS, at.namespace, object, { dryRun: true });
  const hasSecret = Object.keys(own).length > 0;
  if (hasSecret) await putSecret(at, { secretName, isOurs }, own);
  try {
    const made = await createObject(CREDENTIALS, at.namespace, object);
    if (hasSecret) await adopt(made, secretName);
    return made;
  } catch (error) {
    if (hasSecret) await empty(at.namespace, secretName);
    throw error;
  }
}

/** Changes a credential: its fields, and the values that were typed anew. It is then checked at once. */
export async function updateCredential(
  credential: CredentialObject,
  kind: CredentialKind,
  build: Build,
): Promise<CredentialObject> {
  const { namespace = '', name } = credential.metadata;
  const at = { namespace, name };
  const { secretName, isOurs } = await secretFor(at, credential);
  const { account, own, replaced } = build(secretName);
  const before = (credential.spec[kind] ?? {}) as Record<string, unknown>;
  const patch = {
    metadata: {
      ...(credential.metadata.resourceVersion !== undefined && {
        resourceVersion: credential.metadata.resourceVersion,
      }),
      annotations: { [ANNOTATION.check]: wishNow() },
    },
    spec: { [kind]: mergePatch(before, account) },
  };
  await patchObject(CREDENTIALS, at, patch, { dryRun: true });
  for (const [secret, stringData] of Object.entries(replaced))
    await patchObject(SECRETS, { namespace, name: secret }, { stringData });
  const hasOwn = Object.keys(own).length > 0;
  if (hasOwn) await putSecret(at, { secretName, isOurs }, own);
  const changed = await patchObject(CREDENTIALS, at, patch);
  if (hasOwn) await adopt(changed, secretName);
  return changed;
}

/** A value that no check was asked for by before. */
export function wishNow(): string {
  return new Date().toISOString();
}

type OwnedSecret = SecretObject & { metadata: { ownerReferences?: { uid?: string }[] } };

/** Where the values go. Only a Secret that was read, and is this credential's, may be written over. */
type Place = { secretName: string; isOurs: boolean };

/** The usual name, or another one where a Secret that is not this credential's has it, or might have it. */
async function secretFor(at: At, credential?: CredentialObject): Promise<Place> {
  const name = secretNameOf(at.name);
  const found = await findSecret(at.namespace, name);
  if (found === undefined) return { secretName: name, isOurs: false };
  if (found !== 'unreadable' && isOf(found, at, credential)) return { secretName: name, isOurs: true };
  return { secretName: childName(at.name, `secret-${randomSuffix()}`, 253), isOurs: false };
}

/** Whether the Secret was left by an attempt that failed, or is the credential's own. */
function isOf({ metadata }: OwnedSecret, at: At, credential?: CredentialObject): boolean {
  const owners = metadata.ownerReferences ?? [];
  const isLeft = metadata.labels?.[FOR] === labelOf(at.name) && owners.length === 0;
  return isLeft || (credential !== undefined && owners.some(({ uid }) => uid === credential.metadata.uid));
}

/** Whoever may not read Secrets cannot know whether the name is free. */
async function findSecret(namespace: string, name: string): Promise<OwnedSecret | 'unreadable' | undefined> {
  try {
    return await getObject<OwnedSecret>(SECRETS, namespace, name);
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return undefined;
    if (error instanceof ApiFailure && error.status === 403) return 'unreadable';
    throw error;
  }
}

async function putSecret(
  at: At,
  { secretName: name, isOurs }: Place,
  stringData: Record<string, string>,
): Promise<void> {
  if (isOurs) {
    await patchObject(SECRETS, { namespace: at.namespace, name }, { stringData });
    return;
  }
  const labels = { [MANAGED_BY]: 'windlass-console', [FOR]: labelOf(at.name) };
  const secret = { metadata: { name, namespace: at.namespace, labels }, type: 'Opaque', stringData };
  await createObject(SECRETS, at.namespace, secret);
}

/** The Secret goes with the credential. Where that may not be said, it stays; nothing else depends on it. */
async function adopt({ metadata }: CredentialObject, secret: string): Promise<void> {
  const { namespace = '', name, uid } = metadata;
  const owner = { apiVersion: apiVersionOf(CREDENTIALS), kind: CREDENTIALS.kind, name, uid };
  await patchObject(SECRETS, { namespace, name: secret }, { metadata: { ownerReferences: [owner] } }).catch(
    () => undefined,
  );
}

/** What nothing names holds no value. The next attempt takes it again. */
async function empty(namespace: string, name: string): Promise<void> {
  await patchObject(SECRETS, { namespace, name }, { data: null }).catch(() => undefined);
}

/** Labels are shorter than names. */
function labelOf(credential: string): string {
  return credential.length <= 63 ? credential : childName(credential, 'credential');
}

function randomSuffix(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(5)), (byte) => (byte % 36).toString(36)).join('');
}
