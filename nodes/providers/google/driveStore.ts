/**
 * Files of a Google Drive for skills
 * (https://developers.google.com/workspace/drive/api/reference/rest/v3/files). A new file stores the effect
 * key, by which it is found if the answer was lost.
 */
import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { parseOrUndefined } from '../../../api/parseOrUndefined.ts';
import { StepError } from '../../../api/reasons.ts';
import { DRIVE_URL, FOLDER_TYPE } from './drive.ts';
import { readStart, readUpTo } from '../../http/body.ts';
import { send } from '../../http/client.ts';
import { apiURL as urlOf, bearerOf, type Account, type AccountCall } from '../../http/json.ts';
import { at, type HttpAnswer } from '../../http/request.ts';
import { accessToken, type CredentialAccess, type StepContext } from '../../contract/node.ts';
import { callGoogle, googleFailure } from './api.ts';
import {
  tooLarge,
  type GivenFile,
  type ReadFile,
  type Store,
  type WrittenFile,
} from '../../contract/store.ts';

const ANSWER_LIMIT = 1_048_576;
const FIELDS = 'id,name,mimeType,size,webViewLink';
const KEY = 'windlass';

/** As what documents of Google's own are read unless the step says otherwise. */
const EXPORTS: Readonly<Record<string, string>> = {
  'application/vnd.google-apps.document': 'text/plain',
  'application/vnd.google-apps.spreadsheet': 'text/csv',
  'application/vnd.google-apps.presentation': 'text/plain',
  'application/vnd.google-apps.drawing': 'image/png',
  'application/vnd.google-apps.script': 'application/vnd.google-apps.script+json',
};
const OF_GOOGLE = 'application/vnd.google-apps.';

const fileSchema = z.object({
  id: z.string(),
  name: z.string().default(''),
  mimeType: z.string().default(''),
  size: z.coerce.number().optional(),
  webViewLink: z.string().optional(),
});
type DriveFile = z.infer<typeof fileSchema>;
const listSchema = z.object({ files: z.array(fileSchema).default([]) });

type Drive = Account & { effectKey: string };

const RIGHT = 'use files of this drive';

/** @throws StepError */
export function driveStore(credential: CredentialAccess, context: StepContext): Store {
  const { apiURL = DRIVE_URL } = credential.spec.oauth2 ?? {};
  const { effectKey } = context;
  const drive = { baseURL: apiURL, token: accessToken(credential), wire: context, effectKey };
  return {
    write: (file) => write(drive, file),
    read: (id, most, exportType) => read(drive, id, { most, exportType }),
  };
}

/** Ids of Google are paths of nothing. `root` is one, too. */
function requireId(parameter: string, id: string): void {
  if (!/^[\w-]{1,200}$/.test(id))
    throw new StepError(
      'InvalidParameters',
      `${parameter}: must be an id of Google Drive, of letters, digits, - and _`,
    );
}

async function write(drive: Drive, file: GivenFile): Promise<WrittenFile> {
  if (file.folderId !== undefined) requireId('folderId', file.folderId);
  const { name, type, content } = file;
  const key = createHash('sha256').update(drive.effectKey).digest('hex').slice(0, 40);
  const written = (await findWritten(drive, key)) ?? (await put(drive, file, key));
  const { id, webViewLink: url = null } = written;
  return { id, name, type, size: content.length, url };
}

async function findWritten(drive: Drive, key: string): Promise<DriveFile | undefined> {
  const found = await search(
    drive,
    `appProperties has { key='${KEY}' and value='${key}' } and trashed = false`,
  );
  return found[0];
}

async function search(drive: Drive, q: string): Promise<DriveFile[]> {
  const query = {
    q,
    pageSize: '2',
    fields: `files(${FIELDS})`,
    ...EVERYWHERE,
    includeItemsFromAllDrives: 'true',
  };
  return (await call(drive, { path: 'drive/v3/files', query, schema: listSchema })).files;
}

const EVERYWHERE = { supportsAllDrives: 'true' };

async function put(drive: Drive, file: GivenFile, key: string): Promise<DriveFile> {
  const { folderId, name, type, content, overwrite } = file;
  const before = overwrite ? await findNamed(drive, folderId ?? 'root', name) : undefined;
  const appProperties = { [KEY]: key };
  const metadata = before
    ? { appProperties, mimeType: type }
    : { appProperties, name, mimeType: type, ...(folderId !== undefined && { parents: [folderId] }) };
  return call(drive, {
    method: before ? 'PATCH' : 'POST',
    path: before ? `upload/drive/v3/files/${encodeURIComponent(before.id)}` : 'upload/drive/v3/files',
    query: { uploadType: 'multipart', fields: FIELDS, ...EVERYWHERE },
    ...multipart(metadata, type, content),
    schema: fileSchema,
  });
}

/** The one file of that name. @throws StepError `Refused` where there are several */
async function findNamed(drive: Drive, folder: string, name: string): Promise<DriveFile | undefined> {
  const [first, second] = await search(
    drive,
    `name = '${inQuery(name)}' and '${inQuery(folder)}' in parents and trashed = false and mimeType != '${FOLDER_TYPE}'`,
  );
  if (!second) return first;
  throw new StepError('Refused', 'the folder has several files of that name, so that none can be replaced');
}

function inQuery(text: string): string {
  return text.replaceAll(/['\\]/g, String.raw`\$&`);
}

/** https://developers.google.com/workspace/drive/api/guides/manage-uploads#multipart */
function multipart(
  metadata: object,
  type: string,
  content: Buffer,
): Pick<AccountCall<unknown>, 'headers' | 'body'> {
  const boundary = randomUUID();
  const body = Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n`),
    Buffer.from(JSON.stringify(metadata)),
    Buffer.from(`\r\n--${boundary}\r\nContent-Type: ${type}\r\n\r\n`),
    content,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return { headers: { 'content-type': `multipart/related; boundary=${boundary}` }, body };
}

type Reading = { most: number; exportType: string | undefined };

async function read(drive: Drive, id: string, { most, exportType }: Reading): Promise<ReadFile> {
  requireId('fileId', id);
  const path = `drive/v3/files/${id}`;
  const query = { fields: FIELDS, ...EVERYWHERE };
  const file = await call(drive, { path, query, schema: fileSchema });
  const { name, mimeType, size = 0 } = file;
  if (size > most) throw tooLarge(most);
  const isOfGoogle = mimeType.startsWith(OF_GOOGLE);
  const type = isOfGoogle ? (exportType ?? EXPORTS[mimeType]) : mimeType;
  if (type === undefined)
    throw new StepError('Refused', `a file of type ${mimeType.slice(0, 200)} has nothing to be read`);
  const answer = isOfGoogle
    ? await open(drive, `${path}/export`, { mimeType: type })
    : await open(drive, path, { alt: 'media', ...EVERYWHERE });
  const content = await readUpTo(answer, most);
  if (!content) throw tooLarge(most);
  return { id: file.id, name, type: type || null, content };
}

type Call<T> = Omit<AccountCall<T>, 'limit' | 'right' | 'absent'>;

async function call<T>(drive: Drive, given: Call<T>): Promise<T> {
  // Without a status that means absence there is always an answer.
  return (await callGoogle(drive, { ...given, limit: ANSWER_LIMIT, right: RIGHT })) as T;
}

/** A file's content. */
async function open(
  { baseURL, token, wire }: Drive,
  path: string,
  query: Record<string, string>,
): Promise<HttpAnswer> {
  const url = urlOf(baseURL, path, query);
  const answer = await send({ method: 'GET', ...at(url), headers: { authorization: bearerOf(token) } }, wire);
  if (answer.status === 200) return answer;
  const json = parseOrUndefined((await readStart(answer, 65_536)).toString('utf8'));
  throw googleFailure({ ...answer, json }, token, RIGHT);
}
