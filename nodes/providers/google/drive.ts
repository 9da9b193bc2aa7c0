/**
 * Requests to the Google Drive API (https://developers.google.com/workspace/drive/api/reference/rest/v3): the
 * owner, the watched folder, and pages of files, folders and changes.
 */
import * as z from 'zod';
import type { Account, AccountCall } from '../../http/json.ts';
import { PollError } from '../../contract/poller.ts';
import { callGoogle } from './api.ts';

export const DRIVE_URL = 'https://www.googleapis.com';
export const FOLDER_TYPE = 'application/vnd.google-apps.folder';
const ANSWER_LIMIT = 8 * 1_048_576;
const PAGE_SIZE = '500';
const FOLDER_PAGE_SIZE = '1000';
/** Pages of folders that are read: 100,000 folders. */
const MOST_FOLDER_PAGES = 100;
const FILE_FIELDS =
  'id,name,mimeType,size,createdTime,modifiedTime,md5Checksum,headRevisionId,parents,webViewLink,trashed';

export type Drive = {
  account: Account;
  /** The folder that is watched; left out: all of them. */
  folder?: { id: string; below: boolean };
  /** The shared drive that the folder lies in. */
  driveId?: string;
};

const fileSchema = z.object({
  id: z.string(),
  name: z.string().default(''),
  mimeType: z.string().default(''),
  // What is larger than a number of JSON can hold comes as text.
  size: z.coerce.number().optional(),
  createdTime: z.string().optional(),
  modifiedTime: z.string().optional(),
  md5Checksum: z.string().optional(),
  headRevisionId: z.string().optional(),
  parents: z.array(z.string()).optional(),
  webViewLink: z.string().optional(),
  trashed: z.boolean().optional(),
});
export type DriveFile = z.infer<typeof fileSchema>;

const aboutSchema = z.object({ user: z.object({ permissionId: z.string() }) });
const folderSchema = z.object({
  id: z.string(),
  mimeType: z.string(),
  driveId: z.string().optional(),
  trashed: z.boolean().optional(),
});
const listSchema = z.object({
  files: z.array(fileSchema).default([]),
  nextPageToken: z.string().optional(),
});
const parentsSchema = z.object({
  files: z.array(z.object({ id: z.string(), parents: z.array(z.string()).default([]) })).default([]),
  nextPageToken: z.string().optional(),
});
const startSchema = z.object({ startPageToken: z.string() });
const changesSchema = z.object({
  changes: z
    .array(
      z.object({
        fileId: z.string().optional(),
        removed: z.boolean().optional(),
        file: fileSchema.optional(),
      }),
    )
    .default([]),
  nextPageToken: z.string().optional(),
  newStartPageToken: z.string().optional(),
});
export type DriveChanges = z.infer<typeof changesSchema>;

type Call<T> = Pick<AccountCall<T>, 'query' | 'schema' | 'absent'>;

function get<T>(account: Account, path: string, call: Call<T>): Promise<T | undefined> {
  const all = { absent: [404], limit: ANSWER_LIMIT, right: 'list files' };
  return callGoogle(account, { ...all, ...call, path: `drive/v3/${path}` });
}

/** What no answer should be without. */
function present<T>(answer: T | undefined, account: Account): T {
  if (answer !== undefined) return answer;
  throw new PollError('InvalidAnswer', `${new URL(account.baseURL).host} has no Drive API`);
}

/** Whose drive it is: the same for every name that a person has. */
export async function ownerOf(account: Account): Promise<string> {
  const query = { fields: 'user(permissionId)' };
  return present(await get(account, 'about', { query, schema: aboutSchema }), account).user.permissionId;
}

/**
 * The folder of that id.
 * @throws PollError `FolderMissing`
 */
export async function folderOf(account: Account, id: string): Promise<{ id: string; driveId?: string }> {
  const query = { fields: 'id,mimeType,driveId,trashed', supportsAllDrives: 'true' };
  const found = await get(account, `files/${encodeURIComponent(id)}`, { query, schema: folderSchema });
  if (!found || found.trashed || found.mimeType !== FOLDER_TYPE)
    throw new PollError(
      'FolderMissing',
      'the account has no folder with the id that folderId gives, or may not see it: correct folderId, or share the folder with the account',
    );
  return { id: found.id, ...(found.driveId !== undefined && { driveId: found.driveId }) };
}

function everywhere({ driveId }: Drive): Record<string, string | undefined> {
  const all = { supportsAllDrives: 'true', includeItemsFromAllDrives: 'true' };
  return driveId === undefined ? all : { ...all, driveId };
}

function corpus({ driveId }: Drive): Record<string, string> {
  return driveId === undefined ? {} : { corpora: 'drive' };
}

/**
 * A page of the files that lie where is looked, in an order that stays; undefined for a token that is no
 * longer valid.
 */
export function filesPage(drive: Drive, token: string | undefined) {
  const { folder } = drive;
  const isAlone = folder !== undefined && !folder.below;
  const within = isAlone ? `'${folder.id.replaceAll(/['\\]/g, String.raw`\$&`)}' in parents and ` : '';
  const query = {
    ...everywhere(drive),
    ...corpus(drive),
    q: `${within}trashed = false and mimeType != '${FOLDER_TYPE}'`,
    orderBy: 'createdTime',
    pageSize: PAGE_SIZE,
    pageToken: token,
    fields: `nextPageToken,files(${FILE_FIELDS})`,
  };
  return get(drive.account, 'files', { query, schema: listSchema, absent: [400, 404, 410] });
}

/** The folder and all that lie below it. */
export async function foldersBelow(drive: Drive, id: string): Promise<ReadonlySet<string>> {
  const parents = new Map<string, string[]>();
  let pageToken: string | undefined;
  for (let page = 0; page < MOST_FOLDER_PAGES; page += 1) {
    const query = {
      ...everywhere(drive),
      ...corpus(drive),
      q: `trashed = false and mimeType = '${FOLDER_TYPE}'`,
      pageSize: FOLDER_PAGE_SIZE,
      pageToken,
      fields: 'nextPageToken,files(id,parents)',
    };
    const found = present(await get(drive.account, 'files', { query, schema: parentsSchema }), drive.account);
    for (const { id: below, parents: above } of found.files)
      for (const each of above) parents.set(each, [...(parents.get(each) ?? []), below]);
    pageToken = found.nextPageToken;
    if (pageToken === undefined) return reachable(parents, id);
  }
  throw new PollError(
    'TooLarge',
    'the account has more than 100000 folders: watch a folder without those below',
  );
}

function reachable(below: ReadonlyMap<string, string[]>, id: string): ReadonlySet<string> {
  const found = new Set([id]);
  // What is added while a set is walked is walked, too.
  for (const each of found) for (const next of below.get(each) ?? []) found.add(next);
  return found;
}

/** From where on changes are listed that have not happened yet. */
export async function changesStart(drive: Drive): Promise<string> {
  const query = {
    supportsAllDrives: 'true',
    ...(drive.driveId !== undefined && { driveId: drive.driveId }),
  };
  const found = await get(drive.account, 'changes/startPageToken', { query, schema: startSchema });
  return present(found, drive.account).startPageToken;
}

/** A page of changes; undefined for a token that is no longer valid. */
export function changesPage(drive: Drive, pageToken: string): Promise<DriveChanges | undefined> {
  const query = {
    ...everywhere(drive),
    pageToken,
    pageSize: PAGE_SIZE,
    fields: `nextPageToken,newStartPageToken,changes(fileId,removed,file(${FILE_FIELDS}))`,
  };
  return get(drive.account, 'changes', { query, schema: changesSchema, absent: [400, 404, 410] });
}
