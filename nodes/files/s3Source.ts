/**
 * Files of a bucket: each look goes through the list, page by page, and compares. A list that is longer than one look goes on in the next,
 * from the service's own token.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { FileStorageTrigger } from '../../api/trigger.ts';
import type { CredentialAccess } from '../node.ts';
import { KnownList } from './known.ts';
import { Refusal } from './refusal.ts';
import { bucketOf, headOf, urlOf, type Bucket } from './s3.ts';
import { listPage, type Listing, type S3Object, type S3Page } from './s3List.ts';
import type { Change, Extent, Seen, SeenFile, Source } from './source.ts';

const positionSchema = z.object({
  /** From where the list goes on; left out: from its beginning. */
  token: z.string().max(2_048).optional(),
  /** How many of the known files lie before that. */
  at: z.int().min(0),
  /** While a beginning is made: files that are newer than that do not count as known; 0: there is no such time. */
  since: z.number().optional(),
});
type Position = z.infer<typeof positionSchema>;

/** Files of the bucket that the credential names; of all folders where the trigger names none. */
export function s3Source(credential: CredentialAccess, trigger: FileStorageTrigger): Source {
  const bucket = bucketOf(credential);
  const folder = folderOf(trigger.folderId ?? '');
  const listing = { folder, below: folder === '' || trigger.includeSubfolders === true };
  const areTypesWanted = (trigger.mimeTypes ?? []).length > 0;
  const place = hashOf([bucket.origin, bucket.base, bucket.name, folder]);
  return {
    place,
    lost: 'the place up to which the bucket was gone through cannot be read',
    first: (since) => ({ at: 0, since: since?.getTime() ?? 0 }),
    look: async (position, extent) => {
      const parsed = positionSchema.safeParse(position);
      return parsed.success ? look(bucket, listing, parsed.data, extent) : undefined;
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

async function look(bucket: Bucket, listing: Listing, from: Position, extent: Extent): Promise<Seen> {
  const { context } = extent;
  const { signal, egress, enough } = context;
  const walk = new Walk(from, extent);
  let { token } = from;
  do {
    let page: S3Page;
    try {
      page = await listPage(bucket, { ...listing, token }, { signal, egress });
    } catch (error) {
      // Services do not keep tokens for ever: then the list is gone through from its beginning.
      if (token === undefined || token !== from.token || !isExpired(error)) throw error;
      return { changes: [], position: { at: 0, since: from.since }, more: true };
    }
    for (const object of page.objects) walk.pass(object);
    token = page.next;
  } while (token !== undefined && !enough.aborted && !extent.isMuch(walk.changes));
  const isWhole = token === undefined;
  const next = walk.end(isWhole);
  const changes = walk.changes.toSorted((a, b) => Date.parse(a.file.modified) - Date.parse(b.file.modified));
  const wasSince = isWhole && from.since !== undefined && from.since > 0;
  return {
    changes,
    position: isWhole ? { at: 0 } : { token, at: next.at, since: from.since },
    more: !isWhole || wasSince,
    ...(next.isOther && { known: next.known }),
  };
}

function isExpired(error: unknown): boolean {
  return error instanceof Refusal && error.status === 400;
}

/** Goes through a list and through what was known of it at the same time. */
class Walk {
  readonly changes: Change[] = [];
  readonly #from: Position;
  readonly #extent: Extent;
  readonly #list = new KnownList();
  #next: number;
  #isOther = false;

  constructor(from: Position, extent: Extent) {
    this.#from = from;
    this.#extent = extent;
    this.#next = Math.min(from.at, extent.known.count);
    this.#list.take(extent.known, 0, this.#next);
  }

  pass(object: S3Object): void {
    // What programs put there to have a folder shown is none.
    if (object.key.endsWith('/')) return;
    const { known } = this.#extent;
    const { since } = this.#from;
    const version = `${object.etag}\n${object.modified.getTime()}`;
    const index = known.indexOf(object.key);
    const isSame = index >= 0 && known.hasVersion(index, version);
    if (since !== undefined && since > 0 && object.modified.getTime() >= since) return;
    this.#list.push(object.key, version);
    // What was known between the last one and this one is gone.
    if (index !== this.#next || !isSame) this.#isOther = true;
    this.#next = Math.max(this.#next, index + 1);
    if (isSame || since !== undefined) return;
    const event = index < 0 ? 'added' : 'modified';
    this.changes.push({ event, file: listed(object, version) });
  }

  /** What is known now; where the list was not gone through to its end, with what was known of the rest. */
  end(isWhole: boolean) {
    const at = this.#list.count;
    const { known } = this.#extent;
    if (isWhole && this.#next < known.count) this.#isOther = true;
    if (!isWhole) this.#list.take(known, this.#next);
    return { at, isOther: this.#isOther, known: this.#list.known() };
  }
}

/** What is kept of a file until it is shown: all else follows from its key, which may be long. */
function listed({ key, size, modified }: S3Object, version: string): SeenFile {
  const unknown = { name: '', mimeType: null, folder: null, url: null };
  return { id: key, version, size, modified: modified.toISOString(), ...unknown };
}

function shown(bucket: Bucket, file: SeenFile, mimeType: string | null): SeenFile {
  const { id: key } = file;
  const slash = key.lastIndexOf('/') + 1;
  return { ...file, mimeType, name: key.slice(slash), folder: key.slice(0, slash), url: urlOf(bucket, key) };
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
