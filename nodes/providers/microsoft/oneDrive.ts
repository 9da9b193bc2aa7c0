/**
 * Requests for files of a OneDrive by Microsoft Graph
 * (https://learn.microsoft.com/graph/api/resources/onedrive): the drive, the watched folder, and pages of
 * changes. The next page is requested only from the address of the credential, whatever host its link names.
 */
import * as z from 'zod';
import type { Account } from '../../http/json.ts';
import { PollError } from '../../contract/poller.ts';
import { callGraph } from './api.ts';

export const GRAPH_URL = 'https://graph.microsoft.com';
const VERSION = 'v1.0';
const ANSWER_LIMIT = 8 * 1_048_576;
const LONGEST_NEXT = 2_400;
const FIELDS =
  'id,name,size,file,folder,package,deleted,root,cTag,eTag,createdDateTime,lastModifiedDateTime,parentReference,webUrl';

const itemSchema = z.object({
  id: z.string(),
  name: z.string().default(''),
  size: z.number().optional(),
  file: z.object({ mimeType: z.string().optional() }).optional(),
  folder: z.object({}).optional(),
  root: z.object({}).optional(),
  deleted: z.object({}).optional(),
  cTag: z.string().optional(),
  eTag: z.string().optional(),
  createdDateTime: z.string().optional(),
  lastModifiedDateTime: z.string().optional(),
  parentReference: z.object({ id: z.string().optional() }).optional(),
  webUrl: z.string().optional(),
});
export type DriveItem = z.infer<typeof itemSchema>;

const idSchema = z.object({ id: z.string() });
const deltaSchema = z.object({
  value: z.array(itemSchema),
  '@odata.nextLink': z.string().optional(),
  '@odata.deltaLink': z.string().optional(),
});

/** `next`: the path from which it continues; `isPart`: more has happened already. */
export type DeltaPage = { items: DriveItem[]; next: string; isPart: boolean };

const right = 'list files';

/** The drive of the account. */
export async function driveIdOf(account: Account): Promise<string> {
  const drive = await callGraph(account, {
    path: `${VERSION}/me/drive`,
    query: { $select: 'id' },
    schema: idSchema,
    limit: ANSWER_LIMIT,
    right,
    absent: [404],
  });
  if (drive) return drive.id;
  throw new PollError('FolderMissing', 'the account has no OneDrive');
}

/**
 * The folder of that id, or with the name `root`.
 * @throws PollError `FolderMissing`
 */
export async function folderIdOf(account: Account, id: string): Promise<string> {
  const path = id === 'root' ? 'root' : `items/${encodeURIComponent(id)}`;
  const query = { $select: 'id,name,folder,deleted' };
  // What cannot be an id is a bad request.
  const call = { query, schema: itemSchema, limit: ANSWER_LIMIT, right, absent: [400, 404] };
  const item = await callGraph(account, { ...call, path: `${VERSION}/me/drive/${path}` });
  if (item?.folder && !item.deleted) return item.id;
  throw new PollError(
    'FolderMissing',
    'the OneDrive has no folder with the id that folderId gives: correct folderId',
  );
}

/**
 * A page of what changed since; without a path a page of all that there is. Undefined for a path that is no
 * longer valid. https://learn.microsoft.com/graph/api/driveitem-delta
 */
export async function deltaPage(account: Account, path: string | undefined): Promise<DeltaPage | undefined> {
  const first = `me/drive/root/delta?${new URLSearchParams({ $select: FIELDS, $top: '200' }).toString()}`;
  const call = { schema: deltaSchema, limit: ANSWER_LIMIT, right, absent: [400, 404, 410] };
  const page = await callGraph(account, { ...call, path: `${VERSION}/${path ?? first}` });
  if (!page) return undefined;
  const { value: items, '@odata.nextLink': nextLink, '@odata.deltaLink': deltaLink } = page;
  return { items, next: pathOf(nextLink ?? deltaLink), isPart: nextLink !== undefined };
}

function pathOf(link: string | undefined): string {
  if (link !== undefined && URL.canParse(link)) {
    const { pathname, search } = new URL(link);
    const path = pathname.slice(pathname.indexOf(`/${VERSION}/`) + VERSION.length + 2) + search;
    if (/^(me\/drive|drives\/)/.test(path) && path.length <= LONGEST_NEXT) return path;
  }
  throw new PollError('InvalidAnswer', 'the OneDrive sent no valid link to the next changes');
}
