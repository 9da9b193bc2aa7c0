/**
 * Files of a Google Drive for triggers. A poll requests the changes since the last one. If Google no longer
 * accepts the page token, or a whole folder came or went, all files are listed and compared with the known
 * items, so that nothing is lost.
 */
import * as z from 'zod';
import { placeHash } from '../../contract/place.ts';
import type { FileStorageTrigger } from '../../../api/trigger.ts';
import { accessToken, type CredentialAccess } from '../../contract/node.ts';
import { PollError, type PollContext } from '../../contract/poller.ts';
import {
  changesPage,
  changesStart,
  DRIVE_URL,
  filesPage,
  folderOf,
  FOLDER_TYPE,
  foldersBelow,
  ownerOf,
  type Drive,
  type DriveChanges,
  type DriveFile,
} from './drive.ts';
import { compared } from '../../files/latest.ts';
import type { Extent, Seen, SeenFile, Source } from '../../contract/source.ts';
import { firstPlace, inOrder, place, walk, type Place } from '../../files/walk.ts';

const positionSchema = z.object({
  /** The token from which changes are listed; where a list is walked: once it was. */
  changes: z.string().max(512).optional(),
  list: place.optional(),
});

/** Files of the drive that the credential leads to. Throws PollError. */
export async function driveSource(
  credential: CredentialAccess,
  trigger: FileStorageTrigger,
  context: PollContext,
): Promise<Source> {
  const { apiURL = DRIVE_URL } = credential.spec.oauth2 ?? {};
  const account = { baseURL: apiURL, token: accessToken(credential), wire: context };
  const owner = await ownerOf(account);
  const { folderId, includeSubfolders: below = false } = trigger;
  const found = folderId ? await folderOf(account, folderId) : undefined;
  const drive: Drive = {
    account,
    ...(found && { folder: { id: found.id, below } }),
    ...(found?.driveId !== undefined && { driveId: found.driveId }),
  };
  return {
    place: placeHash([owner, found?.id ?? '']),
    lost: 'the stored position in the drive is invalid',
    first: (since) => ({ list: firstPlace(since) }),
    poll: async (position, extent) => {
      const parsed = positionSchema.safeParse(position);
      if (!parsed.success) return undefined;
      const { changes, list } = parsed.data;
      if (list) return goThrough(drive, list, changes ?? (await changesStart(drive)), extent);
      return changes === undefined ? undefined : pollChanges(drive, changes, extent);
    },
  };
}

/** Lists all files. What changes meanwhile comes with the changes since `start`. */
async function goThrough(drive: Drive, from: Place, start: string, extent: Extent): Promise<Seen> {
  const { enough } = extent.context;
  const lies = await watchedFilter(drive);
  const walked = walk(from, extent);
  let { token } = from;
  do {
    const page = await filesPage(drive, token);
    if (!page) {
      if (token === undefined)
        throw new PollError('InvalidAnswer', 'the drive does not list the files of the folder');
      return {
        changes: [],
        position: { changes: start, list: { ...from, token: undefined, at: 0 } },
        more: true,
      };
    }
    for (const file of page.files.filter(lies)) walked.pass(seenOf(file), timeOf(file));
    token = page.nextPageToken;
  } while (token !== undefined && !enough.aborted && !extent.isMuch(walked.changes));
  const isWhole = token === undefined;
  const { at, ...known } = walked.end(isWhole);
  const { since } = from;
  return {
    ...known,
    changes: inOrder(walked.changes),
    position: { changes: start, ...(!isWhole && { list: { token, at, since } }) },
    more: !isWhole,
  };
}

async function pollChanges(drive: Drive, from: string, extent: Extent): Promise<Seen> {
  const { enough } = extent.context;
  const restart = { changes: [], position: { list: { at: 0 } }, more: true };
  const pages: DriveChanges['changes'] = [];
  let token = from;
  let isPart: boolean;
  do {
    const page = await changesPage(drive, token);
    if (!page) return restart;
    pages.push(...page.changes);
    isPart = page.nextPageToken !== undefined;
    const next = page.nextPageToken ?? page.newStartPageToken;
    if (next === undefined)
      throw new PollError('InvalidAnswer', 'the drive sent no page token for the next changes');
    token = next;
  } while (isPart && !enough.aborted && pages.length < MOST_CHANGES);
  const position = { changes: token };
  if (pages.length === 0) return { changes: [], position, more: isPart };
  if (drive.folder?.below && pages.some(({ file }) => file?.mimeType === FOLDER_TYPE)) return restart;
  const latest = latestOf(pages, await watchedFilter(drive));
  return { ...compared(latest, extent.known), position, more: isPart };
}

/** Fewer than wait at a time. */
const MOST_CHANGES = 1_500;

function latestOf(
  pages: DriveChanges['changes'],
  lies: (file: DriveFile) => boolean,
): ReadonlyMap<string, SeenFile | undefined> {
  const latest = new Map<string, SeenFile | undefined>();
  for (const { fileId, removed, file } of pages) {
    const id = fileId ?? file?.id;
    if (id === undefined) continue;
    const isThere = file && !removed && !file.trashed && file.mimeType !== FOLDER_TYPE && lies(file);
    latest.set(id, isThere ? seenOf(file) : undefined);
  }
  return latest;
}

/** Which files lie where is looked. */
async function watchedFilter(drive: Drive): Promise<(file: DriveFile) => boolean> {
  const { folder } = drive;
  if (!folder) return () => true;
  const folders = folder.below ? await foldersBelow(drive, folder.id) : new Set([folder.id]);
  return ({ parents = [] }) => parents.some((each) => folders.has(each));
}

/**
 * Another name, another folder or another reader is no other version; whatever changes what is in the file
 * is.
 */
function seenOf(file: DriveFile): SeenFile {
  const { id, name, mimeType, size, modifiedTime = '', md5Checksum = '', headRevisionId = '' } = file;
  const time = new Date(modifiedTime);
  return {
    id,
    version: `${modifiedTime}\n${md5Checksum}\n${headRevisionId}`,
    name: name.slice(0, LONGEST_NAME),
    mimeType: mimeType || null,
    size: size ?? null,
    modified: (Number.isNaN(time.getTime()) ? new Date(0) : time).toISOString(),
    folder: file.parents?.[0] ?? null,
    url: file.webViewLink ?? null,
  };
}

/** Waiting changes have bounded room. */
const LONGEST_NAME = 2_048;

/** When it came: programs that upload files give them times of modification that are long past. */
function timeOf({ createdTime = '', modifiedTime = '' }: DriveFile): number {
  return Math.max(Date.parse(createdTime) || 0, Date.parse(modifiedTime) || 0);
}
