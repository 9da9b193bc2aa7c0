/**
 * The finalizer of a Credential whose bot may be registered. It is set before the registration is requested.
 */
import { BOT_FINALIZER } from '../../api/bot.ts';
import type { Credential } from '../../api/kinds.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { OperatorContext } from '../shared/context.ts';
import { credentials } from '../shared/resources.ts';

export function hasFinalizer({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return metadata.finalizers?.includes(BOT_FINALIZER) ?? false;
}

/** Adds or removes the finalizer. Throws a conflict if the Credential changed meanwhile. */
export async function setFinalizer(
  { client, caches }: Pick<OperatorContext, 'client' | 'caches'>,
  { metadata }: Credential,
  isDesired: boolean,
): Promise<void> {
  const { namespace = '', name, resourceVersion, finalizers = [] } = metadata;
  const others = finalizers.filter((each) => each !== BOT_FINALIZER);
  const desired = isDesired ? [...others, BOT_FINALIZER] : others;
  const body = { metadata: { resourceVersion, finalizers: desired } };
  const written = await client
    .patch(credentials, { namespace, name }, body, { type: 'merge' })
    .catch((error: unknown) => {
      if (isDesired || !isNotFound(error)) throw error;
      return undefined;
    });
  // A Credential that was being deleted is gone now.
  if (written && written.metadata.deletionTimestamp === undefined) caches.credentials.noteWrite(written);
}
