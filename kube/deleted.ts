/** Writes to objects that may have been deleted since they were read. */
import { ApiError, isNotFound } from './errors.ts';
import type { Resource } from './resource.ts';

/** The object was deleted since it was read. No failure: the next reconcile finds it deleted. */
export class DeletedError extends Error {
  override readonly name = 'DeletedError';
}

/**
 * The result of a write to this object. Throws a DeletedError if the API server says that this object does
 * not exist. A missing namespace, kind or other object stays an ApiError.
 */
export async function unlessDeleted<T>(
  { plural, group }: Pick<Resource, 'plural' | 'group'>,
  name: string,
  write: Promise<T>,
): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const object = `${group === '' ? plural : `${plural}.${group}`} "${name}"`;
    if (!isNotFound(error) || !(error as ApiError).message.endsWith(` ${object} not found`)) throw error;
    throw new DeletedError(`${object} was deleted meanwhile`, { cause: error });
  }
}
