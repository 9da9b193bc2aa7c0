/**
 * Stores a credential and its secret values with the rights of the user: validates everything, then writes
 * the Secret, then the Credential. A failure in between leaves no unreferenced secret value.
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
import { mergePatch } from '../kube/patch.ts';
import type { Built } from './build.ts';

type At = { namespace: string; name: string };
/** The result depends on the name of the Secret for typed values. */
type Build = (secretName: string) => Built;

/** On a Secret that the console created: the name of its credential. */
const FOR = 'windlass.dev/credential';
const MANAGED_BY = 'app.kubernetes.io/managed-by';

/** The default name of a credential's Secret. */
export function secretNameOf(credential: string): string {
  return childName(credential, 'secret', 253);
}

/** Creates the credential. Throws an ApiFailure; then neither the credential nor its secret values exist. */
export async function createCredential(
  at: At,
  kind: CredentialKind,
  build: Build,
): Promise<CredentialObject> {
  const { secretName, isOurs } = await secretFor(at);
  const { account, own } = build(secretName);
  const annotations = { [ANNOTATION.check]: newRequestValue() };
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

/** Updates the fields and the typed secret values. The operator then checks the credential at once. */
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
      annotations: { [ANNOTATION.check]: newRequestValue() },
    },
    spec: { [kind]: mergePatch(before, account) ?? {} },
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

/** A value that no earlier request used. */
export function newRequestValue(): string {
  return new Date().toISOString();
}

type OwnedSecret = SecretObject & { metadata: { ownerReferences?: { uid?: string }[] } };

/** Where the values go. Only a Secret that was read and belongs to this credential may be overwritten. */
type Place = { secretName: string; isOurs: boolean };

/** The default name, or another one if a Secret of something else has it or may have it. */
async function secretFor(at: At, credential?: CredentialObject): Promise<Place> {
  const name = secretNameOf(at.name);
  const found = await findSecret(at.namespace, name);
  if (found === undefined) return { secretName: name, isOurs: false };
  if (found !== 'unreadable' && isOf(found, at, credential)) return { secretName: name, isOurs: true };
  return { secretName: childName(at.name, `secret-${randomSuffix()}`, 253), isOurs: false };
}

/** Whether the Secret belongs to the credential or is left from a failed attempt. */
function isOf({ metadata }: OwnedSecret, at: At, credential?: CredentialObject): boolean {
  const owners = metadata.ownerReferences ?? [];
  const isLeft = metadata.labels?.[FOR] === labelOf(at.name) && owners.length === 0;
  return isLeft || (credential !== undefined && owners.some(({ uid }) => uid === credential.metadata.uid));
}

/** A user who may not read Secrets cannot know whether the name is free. */
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

/**
 * Makes the credential the owner of the Secret. Without the right to do so the Secret is kept on deletion.
 */
async function adopt({ metadata }: CredentialObject, secret: string): Promise<void> {
  const { namespace = '', name, uid } = metadata;
  const owner = { apiVersion: apiVersionOf(CREDENTIALS), kind: CREDENTIALS.kind, name, uid };
  await patchObject(SECRETS, { namespace, name: secret }, { metadata: { ownerReferences: [owner] } }).catch(
    () => undefined,
  );
}

/** Removes the values of an unreferenced Secret. The next attempt uses it again. */
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
