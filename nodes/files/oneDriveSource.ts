/**
 * Files of a OneDrive: a look asks for what changed since the last one. Where Microsoft knows the place no more, and where a whole folder
 * came or went, all that there is is gone through and compared with what was known, so that nothing is lost.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { FileStorageTrigger } from '../../api/trigger.ts';
import type { GoogleAccount as Account } from '../google/request.ts';
import { accessToken, type CredentialAccess } from '../node.ts';
import { PollError, type PollContext } from '../poller.ts';
import type { Known } from './known.ts';
import { compared } from './latest.ts';
import { deltaPage, driveIdOf, folderIdOf, GRAPH_URL, type DriveItem } from './oneDrive.ts';
import type { Extent, Seen, SeenFile, Source } from './source.ts';

const positionSchema = z.object({
  /** The path from which it goes on; left out: all that there is. */
  next: z.string().optional(),
  /** Whether what was there when it was begun is still gone through. */
  all: z.boolean().optional(),
  /** While a trigger begins: only files that came from that time on are new, in milliseconds since 1970; 0: none is. */
  since: z.number().optional(),
  /** How often it was gone through: folders that were found before count no more. */
  round: z.int().min(0),
});
type Position = z.infer<typeof positionSchema>;

type Watched = { folder: string; below: boolean } | undefined;

/** Items that are looked at at a time. */
const MOST_ITEMS = 1_500;
const LONGEST_NAME = 2_048;

/** Files of the OneDrive that the credential leads to. Throws PollError. */
export async function oneDriveSource(
  credential: CredentialAccess,
  trigger: FileStorageTrigger,
  context: PollContext,
): Promise<Source> {
  const { apiURL = GRAPH_URL } = credential.spec.oauth2 ?? {};
  const account = { baseURL: apiURL, token: accessToken(credential), context };
  const drive = await driveIdOf(account);
  const { folderId, includeSubfolders: below = false } = trigger;
  const watched = folderId ? { folder: await folderIdOf(account, folderId), below } : undefined;
  return {
    place: createHash('sha256')
      .update(JSON.stringify([drive, watched?.folder ?? '']))
      .digest('hex')
      .slice(0, 16),
    lost: 'the place up to which the OneDrive was looked at cannot be read',
    first: (since) => ({ all: true, since: since?.getTime() ?? 0, round: 0 }),
    look: async (position, extent) => {
      const parsed = positionSchema.safeParse(position);
      return parsed.success ? look(account, watched, { from: parsed.data, extent }) : undefined;
    },
  };
}

async function look(
  account: Account,
  watched: Watched,
  { from, extent }: { from: Position; extent: Extent },
): Promise<Seen> {
  const { enough } = extent.context;
  const items: DriveItem[] = [];
  let next = from.next;
  let isPart: boolean;
  do {
    const page = await deltaPage(account, next);
    if (!page) return anew(from, next === undefined);
    items.push(...page.items);
    ({ next, isPart } = page);
  } while (isPart && !enough.aborted && items.length < MOST_ITEMS);
  const lies = whereIsLooked(watched, items, { from, known: extent.known });
  const all = from.all === true && isPart;
  const { round, since } = from;
  // Of a folder that came or went nothing is said of what lies in it.
  if (lies.haveFoldersMoved && from.all !== true) return anew(from, false);
  const found = compared(
    new Map([...lies.folders, ...filesOf(items, lies.isIn)]),
    extent.known,
    isNewSince(from),
  );
  const isBeginning = all && since !== undefined;
  return {
    ...found,
    position: { next, round, ...(all && { all }), ...(isBeginning && { since }) },
    more: isPart,
  };
}

function anew({ since, round }: Position, isRefused: boolean): Seen {
  if (isRefused) throw new PollError('InvalidAnswer', 'the OneDrive does not list what is in it');
  return { changes: [], position: { all: true, since, round: round + 1 }, more: true };
}

function isNewSince({ all, since }: Position): (file: SeenFile) => boolean {
  return (file) => {
    if (isFolder(file)) return false;
    return all !== true || since === undefined || (since > 0 && Date.parse(file.modified) >= since);
  };
}

/** The last one of several of the same id counts. */
function filesOf(
  items: readonly DriveItem[],
  isIn: (item: DriveItem) => boolean,
): [id: string, file: SeenFile | undefined][] {
  return items
    .filter(({ folder, root }) => !folder && !root)
    .map((item) => [item.id, !item.deleted && item.file && isIn(item) ? seenOf(item) : undefined]);
}

type Lies = {
  isIn: (item: DriveItem) => boolean;
  /** Folders below the one that is watched, by a name that no file has. */
  folders: [id: string, folder: SeenFile | undefined][];
  haveFoldersMoved: boolean;
};

function whereIsLooked(
  watched: Watched,
  items: readonly DriveItem[],
  { from, known }: { from: Position; known: Known },
): Lies {
  const parentOf = ({ parentReference }: DriveItem) => parentReference?.id ?? '';
  if (!watched) return { isIn: () => true, folders: [], haveFoldersMoved: false };
  if (!watched.below)
    return { isIn: (item) => parentOf(item) === watched.folder, folders: [], haveFoldersMoved: false };
  const nameOf = (id: string) => `${FOLDER}${from.round}/${id}`;
  const latest = new Map(items.filter(({ folder }) => folder).map((item) => [item.id, item]));
  const isWatched = (id: string, depth = 0): boolean => {
    if (id === watched.folder) return true;
    const item = latest.get(id);
    if (!item || depth > MOST_DEPTH) return known.indexOf(nameOf(id)) >= 0;
    return !item.deleted && isWatched(parentOf(item), depth + 1);
  };
  const folders = [...latest.keys()]
    .filter((id) => id !== watched.folder)
    .map((id) => ({ id, is: isWatched(id), was: known.indexOf(nameOf(id)) >= 0 }))
    .filter(({ is, was }) => is !== was);
  return {
    isIn: (item) => isWatched(parentOf(item)),
    folders: folders.map(({ id, is }) => [nameOf(id), is ? folderEntry(nameOf(id)) : undefined]),
    haveFoldersMoved: folders.length > 0,
  };
}

const MOST_DEPTH = 500;
const FOLDER = 'folder/';

/** No id of Microsoft's has a slash. */
function isFolder({ id }: SeenFile): boolean {
  return id.startsWith(FOLDER);
}

function folderEntry(id: string): SeenFile {
  const modified = new Date(0).toISOString();
  return { id, version: '', name: '', mimeType: null, size: null, modified, folder: null, url: null };
}

/** cTag is another one when what is in the file is, and stays when it is moved or renamed. */
function seenOf(item: DriveItem): SeenFile {
  const { id, name, file, size, cTag, eTag, lastModifiedDateTime = '' } = item;
  const time = new Date(lastModifiedDateTime);
  return {
    id,
    version: cTag ?? eTag ?? lastModifiedDateTime,
    name: name.slice(0, LONGEST_NAME),
    mimeType: file?.mimeType ?? null,
    size: size ?? null,
    modified: (Number.isNaN(time.getTime()) ? new Date(0) : time).toISOString(),
    folder: item.parentReference?.id ?? null,
    url: item.webUrl ?? null,
  };
}
