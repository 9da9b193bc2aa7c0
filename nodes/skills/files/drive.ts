/**
 * Files of a Google Drive for steps (https://developers.google.com/workspace/drive/api/reference/rest/v3/files). A new file bears the key
 * of the attempt, by which it is found again where the answer was lost.
 */
import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { isHeaderValue } from '../../../api/headers.ts';
import { StepError } from '../../../api/reasons.ts';
import { DRIVE_URL, FOLDER_TYPE } from '../../files/drive.ts';
import { Refusal, type RefusalKind } from '../../files/refusal.ts';
import { drop, readUpTo, send, type Incoming, type Outgoing } from '../../files/request.ts';
import { accessToken, quoted, type CredentialAccess, type StepContext } from '../../node.ts';
import { echoesOf, type Secret } from '../../secret.ts';
import { changing, tooLarge, type GivenFile, type ReadFile, type Store, type WrittenFile } from './store.ts';

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

type Drive = { base: URL; token: Secret; context: StepContext };

/** @throws StepError */
export function driveStore(credential: CredentialAccess, context: StepContext): Store {
  const { apiURL = DRIVE_URL } = credential.spec.oauth2 ?? {};
  if (!URL.canParse(apiURL)) throw new StepError('InvalidParameters', 'apiURL of the credential is no URL');
  const token = accessToken(credential);
  if (!isHeaderValue(token.reveal()))
    throw new StepError('CredentialRejected', 'the access token holds a character that headers cannot hold');
  const drive = { base: new URL(apiURL), token, context };
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
  const key = createHash('sha256').update(drive.context.effectKey).digest('hex').slice(0, 40);
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
  return (await ask(drive, { path: 'drive/v3/files', query }, listSchema)).files;
}

const EVERYWHERE = { supportsAllDrives: 'true' };

async function put(drive: Drive, file: GivenFile, key: string): Promise<DriveFile> {
  const { folderId, name, type, content, overwrite } = file;
  const before = overwrite ? await findNamed(drive, folderId ?? 'root', name) : undefined;
  const appProperties = { [KEY]: key };
  const metadata = before
    ? { appProperties, mimeType: type }
    : { appProperties, name, mimeType: type, ...(folderId !== undefined && { parents: [folderId] }) };
  const asking: Asking = {
    method: before ? 'PATCH' : 'POST',
    path: before ? `upload/drive/v3/files/${encodeURIComponent(before.id)}` : 'upload/drive/v3/files',
    query: { uploadType: 'multipart', fields: FIELDS, ...EVERYWHERE },
    ...multipart(metadata, type, content),
  };
  return changing(drive.context, () => ask(drive, asking, fileSchema));
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
function multipart(metadata: object, type: string, content: Buffer): Pick<Asking, 'headers' | 'body'> {
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
  const file = await ask(drive, { path, query: { fields: FIELDS, ...EVERYWHERE } }, fileSchema);
  const { name, mimeType, size = 0 } = file;
  if (size > most) throw tooLarge(most);
  const isOfGoogle = mimeType.startsWith(OF_GOOGLE);
  const type = isOfGoogle ? (exportType ?? EXPORTS[mimeType]) : mimeType;
  if (type === undefined)
    throw new StepError('Refused', `a file of type ${mimeType.slice(0, 200)} has nothing to be read`);
  const answer = isOfGoogle
    ? await request(drive, { path: `${path}/export`, query: { mimeType: type } })
    : await request(drive, { path, query: { alt: 'media', ...EVERYWHERE } });
  const content = await readUpTo(answer, most, drive.context);
  if (!content) throw tooLarge(most);
  return { id: file.id, name, type: type || null, content };
}

type Asking = Partial<Pick<Outgoing, 'method' | 'headers' | 'body'>> & {
  path: string;
  query: Readonly<Record<string, string>>;
};

async function ask<T>(drive: Drive, asking: Asking, schema: z.ZodType<T>): Promise<T> {
  const answer = await request(drive, asking);
  const bytes = await readUpTo(answer, ANSWER_LIMIT, drive.context);
  try {
    return schema.parse(JSON.parse(bytes?.toString('utf8') ?? ''));
  } catch {
    throw new Refusal('InvalidAnswer', `${answer.host} answered with something that cannot be read`, answer);
  }
}

/** An answer that is a success. */
async function request({ base, token, context }: Drive, asking: Asking): Promise<Incoming> {
  const { method = 'GET', path, query, headers, body } = asking;
  const answer = await send(
    {
      origin: base.origin,
      path: `${base.pathname.replace(/\/+$/, '')}/${path}?${new URLSearchParams(query).toString()}`,
      method,
      headers: { ...headers, authorization: `Bearer ${token.reveal()}` },
      ...(body && { body }),
    },
    context,
  );
  if (answer.status === 200) return answer;
  throw await refusal(answer, token, context);
}

/** https://developers.google.com/workspace/drive/api/guides/handle-errors */
const errorSchema = z.object({
  error: z.object({
    message: z.string().optional(),
    errors: z.array(z.object({ reason: z.string().optional() })).optional(),
  }),
});
const LIMITED = /rateLimitExceeded|quotaExceeded|dailyLimitExceeded|sharingRateLimitExceeded/i;
const UNSCOPED = /insufficientPermissions|insufficientScopes/;
const OF_ACCESS = /authError|accessNotConfigured|appNotAuthorized|domainPolicy/;

async function refusal(answer: Incoming, token: Secret, context: StepContext): Promise<Refusal> {
  const text = (await readUpTo(answer, 65_536, context).catch(() => undefined))?.toString('utf8') ?? '';
  drop(answer);
  const parsed = errorSchema.safeParse(parsedOrNothing(text));
  const { message, errors = [] } = parsed.success ? parsed.data.error : {};
  const reasons = errors.map(({ reason }) => reason ?? '').join(' ');
  const said = quoted(message ?? `status ${answer.status}`, echoesOf(token));
  const [kind, what] = verdict(answer, reasons);
  return new Refusal(kind, `${what}: ${said}`, answer);
}

function verdict({ status, host }: Incoming, reasons: string): [RefusalKind, string] {
  if (status === 429 || (status === 403 && LIMITED.test(reasons)))
    return ['RateLimited', `${host} asks to wait`];
  if (status === 403 && UNSCOPED.test(reasons))
    return ['MissingScope', 'the access lacks a right: connect the credential again'];
  if (status === 401 || OF_ACCESS.test(reasons)) return ['Rejected', `${host} refused the access`];
  if (status === 404) return ['Missing', `${host} has no such file or folder, or the account may not see it`];
  if (status >= 500) return ['UpstreamError', `${host} has an error of its own`];
  return ['Refused', `${host} refused what was asked`];
}

function parsedOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
