/** Google Drive. */
import { convertCall } from '../steps/call.ts';
import { memberOf, numberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { type Value, constant, objectValue, valueOf } from '../expressions/value.ts';
import { convertRequest } from '../steps/request.ts';

const DRIVE = 'https://www.googleapis.com/drive/v3/files';

const fileUrl = (raw: unknown, rest = ''): Value => {
  const given = textOf(raw);
  const [, id] = /\/(?:d|folders)\/([\w-]+)/.exec(given) ?? [];
  const value = valueOf(id ?? given);
  if (value.kind === 'constant') return constant(`${DRIVE}/${textOf(value.value)}${rest}`);
  return value.kind === 'text'
    ? { kind: 'text', parts: [{ text: `${DRIVE}/` }, ...value.parts, { text: rest }] }
    : value;
};

export function convertDrive(context: NodeContext): Draft {
  const { parameters } = context;
  const resource = textOf(parameters['resource'], 'file');
  const operation = textOf(
    parameters['operation'],
    resource === 'fileFolder' ? 'search' : resource === 'folder' ? 'create' : 'upload',
  );
  const credential = context.credential(['googleDriveOAuth2Api', 'googleApi']);
  const request = (
    method: string,
    url: Value,
    more: { body?: Value; query?: Value; items?: (r: string) => string } = {},
  ) => convertRequest(context, { method: constant(method), url, credential, ...more, items: more.items });
  const folder = valueOf(parameters['folderId'] ?? parameters['parents'] ?? 'root');
  const id = parameters['fileId'] ?? parameters['folderNoRootId'];
  switch (operation) {
    case 'download':
      context.note(
        'review',
        'the file is in the fields content, encoding, name and mime_type of the item: n8n has it as binary data',
      );
      return convertCall(context, {
        skill: 'download_file',
        credential,
        parameters: { fileId: valueOf(textOf(id) || 'replace-me') },
        items: (r) => `[${r}]`,
      });
    case 'createFromText':
      return convertCall(context, {
        skill: 'upload_file',
        credential,
        parameters: {
          name: valueOf(textOf(parameters['name']) || 'file.txt'),
          content: valueOf(textOf(parameters['content'])),
          ...(folder.kind === 'constant' && folder.value === 'root' ? {} : { folderId: folder }),
          mimeType: constant('text/plain'),
        },
        items: (r) =>
          `[{ id: ${r}.file_id, name: ${r}.name, mimeType: ${r}.mime_type, webViewLink: ${r}.url }]`,
      });
    case 'search':
    case 'list':
      return searchDrive(context, request);
    default:
      return changeDrive(context, operation, request);
  }
}

type Ask = (
  method: string,
  url: Value,
  more?: { body?: Value; query?: Value; items?: (r: string) => string },
) => Draft;

function searchDrive({ parameters, note }: NodeContext, request: Ask): Draft {
  const text = parameters['queryString'];
  const isQuery = parameters['searchMethod'] === 'query' || parameters['useQueryString'] === true;
  const parent = textOf(
    memberOf(parameters, 'filter.folderId.value') ?? memberOf(parameters, 'filter.folderId'),
  );
  const drive = textOf(
    memberOf(parameters, 'filter.driveId.value') ?? memberOf(parameters, 'filter.driveId'),
  );
  if (!['', 'My Drive'].includes(drive))
    note('review', 'it searches My Drive and what is shared, not the shared drive alone');
  const parts = isQuery ? undefined : [`name contains '`, "' and trashed = false"];
  const value = valueOf(textOf(text));
  const named: Value =
    parts && value.kind === 'text'
      ? { kind: 'text', parts: [{ text: parts[0] ?? '' }, ...value.parts, { text: parts[1] ?? '' }] }
      : constant(
          `${textOf(text) === '' ? '' : `name contains '${textOf(text).replaceAll("'", String.raw`\'`)}' and `}trashed = false${/^[\w-]+$/.test(parent) ? ` and '${parent}' in parents` : ''}`,
        );
  return request('GET', constant(DRIVE), {
    query: objectValue({
      q: isQuery ? value : named,
      fields: constant('files(*)'),
      pageSize: constant(Math.min(numberOf(parameters['limit']) ?? 100, 1000)),
    }),
    items: (r) => `${r}.body.files ?? []`,
  });
}

function changeDrive(context: NodeContext, operation: string, request: Ask): Draft {
  const { parameters } = context;
  const folder = valueOf(parameters['folderId'] ?? parameters['parents'] ?? 'root');
  const id = parameters['fileId'] ?? parameters['folderNoRootId'];
  switch (operation) {
    case 'create':
      return request('POST', constant(DRIVE), {
        body: objectValue({
          name: valueOf(textOf(parameters['name']) || 'Untitled'),
          mimeType: constant('application/vnd.google-apps.folder'),
          parents: { kind: 'list', elements: [folder] },
        }),
      });
    case 'copy':
      return request('POST', fileUrl(id, '/copy'), {
        body: objectValue({
          name: textOf(parameters['name']) === '' ? undefined : valueOf(parameters['name']),
        }),
      });
    case 'delete':
    case 'deleteFile':
    case 'deleteFolder':
      return request('DELETE', fileUrl(id), { items: () => '[{ success: true }]' });
    case 'move':
      context.note(
        'review',
        'the file is added to the folder, and stays in the one of before: set removeParents',
      );
      return request('PATCH', fileUrl(id), { query: objectValue({ addParents: folder }) });
    case 'share': {
      const permissions = objectOf(memberOf(parameters, 'permissionsUi.permissionsValues'));
      return request('POST', fileUrl(id, '/permissions'), {
        body: valueOf({ role: 'reader', type: 'user', ...permissions }),
      });
    }
    default:
      throw new Error(`Google Drive: ${operation} has no counterpart: upload_file writes texts and base64`);
  }
}
