/**
 * The one place that writes the status of Windlass's objects. Throws a DeletedError where the object was
 * deleted since it was read.
 */
import type { Reason } from '../../api/conditions.ts';
import type { Cache } from '../../kube/cache.ts';
import type { KubeClient } from '../../kube/client.ts';
import { unlessDeleted } from '../../kube/deleted.ts';
import { canonicalJson } from '../../kube/json.ts';
import type { Condition, ConditionStatus, KubeObject } from '../../kube/resource.ts';
import type { Manifest } from '../../kube/writes.ts';
import { recordConditions } from './conditionEvents.ts';
import type { OperatorContext } from './context.ts';

/** What a condition says, without its type. */
export type Finding = { status: ConditionStatus; reason: Reason; message: string };

type WithConditions = KubeObject & {
  spec: object;
  status?: { conditions?: readonly Condition[] | undefined } | undefined;
};
type Writer<T extends KubeObject> = Pick<Cache<T>, 'resource' | 'noteWrite'>;

/**
 * Applies a status with conditions if it differs from what the object has, then records Events about
 * conditions that changed. Only fields that `status` has, or that `owned` names, are compared: other writers
 * own the others. An object that was deleted and created again meanwhile is left alone.
 */
export async function writeStatus<T extends WithConditions>(
  { client, events }: Pick<OperatorContext, 'client' | 'events'>,
  cache: Writer<T>,
  object: T,
  status: NonNullable<T['status']>,
  owned?: readonly (keyof NonNullable<T['status']> & string)[],
): Promise<void> {
  const before: Record<string, unknown> = { ...object.status };
  const compared = owned ? Object.fromEntries(owned.map((field) => [field, before[field]])) : before;
  if (canonicalJson(compared) === canonicalJson(status)) return;
  await applyStatus({ client }, cache, object, status);
  recordConditions(events, object, object.status?.conditions ?? [], status.conditions ?? []);
}

/** Applies the fields as the status that the operator owns. */
export async function applyStatus<T extends KubeObject & { status?: object | undefined }>(
  { client }: Pick<OperatorContext, 'client'>,
  cache: Writer<T>,
  { metadata: { name, namespace = '', uid } }: T,
  status: NonNullable<T['status']>,
): Promise<void> {
  const metadata = { name, namespace, ...(uid !== undefined && { uid }) };
  const manifest = { metadata, status } as unknown as Manifest<T>;
  const write = client.apply(cache.resource, manifest, { subresource: 'status' });
  const written = await unlessDeleted(cache.resource, name, write);
  cache.noteWrite(written);
}

/**
 * Merges fields into the status as another field manager, so that neither has to know what the other wrote.
 */
export async function patchStatus<T extends KubeObject>(
  { client }: { client: Pick<KubeClient, 'patch'> },
  cache: Writer<T>,
  { metadata: { name, namespace = '', uid } }: T,
  status: Record<string, unknown>,
  fieldManager: string,
): Promise<void> {
  const write = client.patch(
    cache.resource,
    { namespace, name },
    { metadata: { uid }, status },
    { type: 'merge', subresource: 'status', fieldManager },
  );
  const written = await unlessDeleted(cache.resource, name, write);
  cache.noteWrite(written);
}
