/**
 * The mark on a Credential whose bot may be registered at the messaging service: a finalizer, so that nobody forgets to take the
 * registration back. It is there before anything is registered.
 */
import { BOT_FINALIZER } from '../../api/bot.ts';
import type { Credential } from '../../api/kinds.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { OperatorContext } from '../shared/context.ts';
import { credentials } from '../shared/resources.ts';

export function isMarked({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return metadata.finalizers?.includes(BOT_FINALIZER) ?? false;
}

/** Sets the mark, or takes it away. Throws a conflict where somebody else has changed the Credential meanwhile. */
export async function setMark(
  { client, caches }: Pick<OperatorContext, 'client' | 'caches'>,
  { metadata }: Credential,
  isWanted: boolean,
): Promise<void> {
  const { namespace = '', name, resourceVersion, finalizers = [] } = metadata;
  const others = finalizers.filter((each) => each !== BOT_FINALIZER);
  const wanted = isWanted ? [...others, BOT_FINALIZER] : others;
  const body = { metadata: { resourceVersion, finalizers: wanted } };
  const written = await client
    .patch(credentials, { namespace, name }, body, { type: 'merge' })
    .catch((error: unknown) => {
      if (isWanted || !isNotFound(error)) throw error;
      return undefined;
    });
  // Of one that was being deleted nothing is left to be followed.
  if (written && written.metadata.deletionTimestamp === undefined) caches.credentials.noteWrite(written);
}
