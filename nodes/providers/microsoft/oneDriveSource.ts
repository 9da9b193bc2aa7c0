/**
 * Files of a OneDrive for triggers. A poll requests the changes since the last one. If Microsoft no longer
 * accepts the link, or a whole folder came or went, all items are listed and compared with the known items,
 * so that nothing is lost.
 */
import * as z from 'zod';
import { placeHash } from '../../contract/place.ts';
import type { FileStorageTrigger } from '../../../api/trigger.ts';
import type { Account } from '../../http/json.ts';
import { accessToken, type CredentialAccess } from '../../contract/node.ts';
import { PollError, type PollContext } from '../../contract/poller.ts';
import type { Known } from '../../contract/known.ts';
import { compared, gathered } from '../../files/latest.ts';
import { deltaPage, driveIdOf, folderIdOf, GRAPH_URL, type DriveItem } from './oneDrive.ts';
import type { Extent, Seen, SeenFile, Source } from '../../contract/source.ts';

const positionSchema = z.object({
  /** The path from which it continues; left out: all that there is. */
  next: z.string().optional(),
  /** Whether what was there when it was begun is still walked. */
  all: z.boolean().optional(),
  /**
   * While a trigger begins: only files that came from that time on are new, in milliseconds since 1970; 0:
   * none is.
   */
  since: z.number().optional(),
  /** While all is walked: how much of what is known was listed by now. */
  at: z.int().min(0).optional(),
  /** … whether something was listed of which nobody could say for sure yet where it lies. */
  isUnsure: z.boolean().optional(),
  /** … whether folders came or went. With the one before, all is walked once more. */
  haveMoved: z.boolean().optional(),
});
type Position = z.infer<typeof positionSchema>;

type Watched = { folder: string; below: boolean } | undefined;

/** Items that are checked at a time. */
const MOST_ITEMS = 1_500;
const LONGEST_NAME = 2_048;

/** Files of the OneDrive that the credential leads to. Throws PollError. */
export async function oneDriveSource(
  credential: CredentialAccess,
  trigger: FileStorageTrigger,
  context: PollContext,
): Promise<Source> {
  const { apiURL = GRAPH_URL } = credential.spec.oauth2 ?? {};
  const account = { baseURL: apiURL, token: accessToken(credential), wire: context };
  const drive = await driveIdOf(account);
  const { folderId, includeSubfolders: below = false } = trigger;
  const isAll = !folderId || (folderId === 'root' && below);
  const watched = isAll ? undefined : { folder: await folderIdOf(account, folderId), below };
  return {
    place: placeHash([drive, watched?.folder ?? '']),
    lost: 'the stored position in the OneDrive is invalid',
    first: (since) => ({ all: true, since: since?.getTime() ?? 0 }),
    poll: async (position, extent) => {
      const parsed = positionSchema.safeParse(position);
      return parsed.success ? poll(account, watched, { from: parsed.data, extent }) : undefined;
    },
  };
}

async function poll(
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
    if (!page) return restart(from, next === undefined);
    items.push(...page.items);
    ({ next, isPart } = page);
  } while (isPart && !enough.aborted && items.length < MOST_ITEMS);
  const { known } = extent;
  const listed = from.all ? (from.at ?? 0) : known.count;
  const lies = watchedFilter(watched, items, { known, listed });
  const latest = new Map([...lies.folders, ...filesOf(items, lies.isIn)]);
  if (from.all) return goThrough(latest, lies, { from, next, isPart, known });
  // Of a folder that came or went nothing is said of what lies in it.
  if (lies.haveMoved) return restart(from, false);
  return { ...compared(latest, known, isFile), position: { next }, more: isPart };
}

function restart({ since }: Position, isRefused: boolean): Seen {
  if (isRefused) throw new PollError('InvalidAnswer', 'the OneDrive does not list its items');
  return { changes: [], position: { all: true, since }, more: true };
}

type Round = { from: Position; next: string; isPart: boolean; known: Known };

/** A part of all that there is. */
function goThrough(
  latest: ReadonlyMap<string, SeenFile | undefined>,
  lies: Pick<Lies, 'isUnsure' | 'haveMoved'>,
  { from, next, isPart, known }: Round,
): Seen {
  const { at = 0, since } = from;
  const isUnsure = from.isUnsure === true || lies.isUnsure();
  const haveMoved = from.haveMoved === true || lies.haveMoved;
  const isNew = (file: SeenFile) => isFile(file) && isNewSince(file, since);
  const { at: end, ...found } = gathered(latest, known, { at, isWhole: !isPart, isNew });
  if (isPart)
    return { ...found, position: { next, all: true, since, at: end, isUnsure, haveMoved }, more: true };
  const isAgain = isUnsure && haveMoved;
  return { ...found, position: isAgain ? { all: true, since } : { next }, more: isAgain };
}

function isNewSince({ modified }: SeenFile, since: number | undefined): boolean {
  return since === undefined || (since > 0 && Date.parse(modified) >= since);
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
  /** Folders came or went. */
  haveMoved: boolean;
  /** Whether of something that was asked about the folders above it were not listed yet. */
  isUnsure: () => boolean;
};

/** `listed`: how much of what is known is so as of now, while all that there is is walked. */
function watchedFilter(
  watched: Watched,
  items: readonly DriveItem[],
  { known, listed }: { known: Known; listed: number },
): Lies {
  const parentOf = ({ parentReference }: DriveItem) => parentReference?.id ?? '';
  const flat = { folders: [], haveMoved: false, isUnsure: () => false };
  if (!watched) return { ...flat, isIn: () => true };
  if (!watched.below) return { ...flat, isIn: (item) => parentOf(item) === watched.folder };
  // What is gone may not say any more that it was a folder.
  const latest = new Map(
    items.filter(({ folder, deleted }) => folder ?? deleted).map((item) => [item.id, item]),
  );
  let isUnsure = false;
  const isWatched = (id: string, depth = 0): boolean => {
    if (id === watched.folder) return true;
    if (depth > MOST_DEPTH) return false;
    const item = latest.get(id);
    if (item) return !item.deleted && !item.root && isWatched(parentOf(item), depth + 1);
    const index = known.indexOf(nameOf(id));
    isUnsure ||= index < 0 || index >= listed;
    return index >= 0;
  };
  const folders = [...latest.keys()]
    .filter((id) => id !== watched.folder)
    .map((id) => ({ name: nameOf(id), is: isWatched(id) }));
  return {
    isIn: (item) => isWatched(parentOf(item)),
    folders: folders.map(({ name, is }) => [name, is ? folderEntry(name) : undefined]),
    haveMoved: folders.some(({ name, is }) => is !== known.indexOf(name) >= 0),
    isUnsure: () => isUnsure,
  };
}

const MOST_DEPTH = 500;
const FOLDER = 'folder/';
const nameOf = (id: string): string => FOLDER + id;

/** No id of Microsoft's has a slash. */
function isFile({ id }: SeenFile): boolean {
  return !id.startsWith(FOLDER);
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
