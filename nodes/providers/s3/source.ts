/**
 * Files of a bucket for triggers. Each poll walks the list page by page and compares it with the known items.
 * A list that is longer than one poll continues in the next one, from the service's continuation token.
 */
import { placeHash } from '../../contract/place.ts';
import type { FileStorageTrigger } from '../../../api/trigger.ts';
import type { CredentialAccess } from '../../contract/node.ts';
import { Failure } from '../../contract/failure.ts';
import { bucketOf, headOf, urlOf, type Bucket } from './bucket.ts';
import { listPage, type Listing, type S3Object, type S3Page } from './list.ts';
import type { Extent, Seen, SeenFile, Source } from '../../contract/source.ts';
import { firstPlace, inOrder, place, walk, type Place } from '../../files/walk.ts';

/** Files of the bucket that the credential names; of all folders where the trigger names none. */
export function s3Source(credential: CredentialAccess, trigger: FileStorageTrigger): Source {
  const bucket = bucketOf(credential);
  const folder = folderOf(trigger.folderId ?? '');
  const listing = { folder, below: folder === '' || trigger.includeSubfolders === true };
  const areTypesWanted = (trigger.mimeTypes ?? []).length > 0;
  const whose = placeHash([bucket.origin, bucket.base, bucket.name, folder]);
  return {
    place: whose,
    lost: 'the stored position in the bucket is invalid',
    first: firstPlace,
    poll: async (position, extent) => {
      const parsed = place.safeParse(position);
      return parsed.success ? poll(bucket, listing, parsed.data, extent) : undefined;
    },
    complete: async (file, context) => {
      const head = await headOf(bucket, file.id, context, areTypesWanted);
      return head && shown(bucket, file, head.type);
    },
  };
}

/** `/reports`, `reports` and `reports/` are the same folder. */
function folderOf(text: string): string {
  const name = text.replace(/^\/+/, '').replace(/\/+$/, '');
  return name === '' ? '' : `${name}/`;
}

async function poll(bucket: Bucket, listing: Listing, from: Place, extent: Extent): Promise<Seen> {
  const { signal, egress, enough } = extent.context;
  const walked = walk(from, extent);
  let { token } = from;
  do {
    let page: S3Page;
    try {
      page = await listPage(bucket, { ...listing, token }, { signal, egress });
    } catch (error) {
      // Services do not keep tokens for ever: then the list is walked from its beginning.
      if (token === undefined || token !== from.token || !isExpired(error)) throw error;
      return { changes: [], position: { at: 0, since: from.since }, more: true };
    }
    for (const object of page.objects) {
      // What programs put there to have a folder shown is no file.
      if (!object.key.endsWith('/')) walked.pass(listed(object), object.modified.getTime());
    }
    token = page.next;
  } while (token !== undefined && !enough.aborted && !extent.isMuch(walked.changes));
  const isWhole = token === undefined;
  const { at, ...known } = walked.end(isWhole);
  return {
    ...known,
    changes: inOrder(walked.changes),
    position: isWhole ? { at: 0 } : { token, at, since: from.since },
    more: !isWhole,
  };
}

function isExpired(error: unknown): boolean {
  return error instanceof Failure && error.status === 400;
}

/** What is kept of a file until it is shown: all else follows from its key, which may be long. */
function listed({ key, size, modified, etag }: S3Object): SeenFile {
  const version = `${etag}\n${modified.getTime()}`;
  const unknown = { name: '', mimeType: null, folder: null, url: null };
  return { id: key, version, size, modified: modified.toISOString(), ...unknown };
}

function shown(bucket: Bucket, file: SeenFile, mimeType: string | null): SeenFile {
  const { id: key } = file;
  const slash = key.lastIndexOf('/') + 1;
  return { ...file, mimeType, name: key.slice(slash), folder: key.slice(0, slash), url: urlOf(bucket, key) };
}
