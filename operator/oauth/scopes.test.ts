import { expect, test } from 'vitest';
import type { Credential, Workflow } from '../../api/kinds.ts';
import type { WorkflowNode } from '../../api/workflow.ts';
import { missingScopes, neededScopes, requestedScopes } from './scopes.ts';

const READ = 'https://www.googleapis.com/auth/gmail.readonly';
const SEND = 'https://www.googleapis.com/auth/gmail.send';

const account = (preset: 'google' | 'microsoft' | 'custom', scopes: string[] = []): Credential => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Credential',
  metadata: { name: 'gmail', namespace: 'shop' },
  spec: { oauth2: { preset, clientID: 'a', scopes } },
});

/** Workflows that name the credential. */
function cachesOf(...nodes: WorkflowNode[]) {
  const workflows = nodes.map(
    (node): Workflow => ({
      apiVersion: 'windlass.dev/v1alpha1',
      kind: 'Workflow',
      metadata: { name: node.id, namespace: 'shop' },
      spec: { active: true, nodes: [node] },
    }),
  );
  const byIndex = (_index: string, key: string) => (key === 'shop/gmail' ? workflows : []);
  return { workflows: { byIndex } } as unknown as Parameters<typeof requestedScopes>[0];
}

const reads = (credential: string): WorkflowNode => ({ id: 'new_mail', mail: { credential } });
const answers: WorkflowNode = { id: 'answer', skill: { name: 'reply_email', credential: 'gmail' } };

test('connecting requests the scopes of the credential and of the workflows that use it', () => {
  const caches = cachesOf(reads('gmail'), answers);
  expect(requestedScopes(caches, account('google', ['https://example.com/more']))).toEqual([
    'openid',
    'email',
    'https://example.com/more',
    READ,
    SEND,
  ]);
});

test('a workflow that only reads mail does not request the scope for sending', () => {
  expect(neededScopes(cachesOf(reads('gmail')), account('google'))).toEqual([READ]);
  expect(neededScopes(cachesOf(reads('other')), account('google'))).toEqual([]);
});

test('reading mail of Google by IMAP requests the IMAP scope', () => {
  const { spec, ...rest } = account('google');
  const byImap = { ...rest, spec: { oauth2: { ...spec.oauth2!, imap: { username: 'ada@example.com' } } } };
  expect(neededScopes(cachesOf(reads('gmail'), answers), byImap)).toEqual(['https://mail.google.com/', SEND]);
});

test('a custom provider gets only the scopes of the credential', () => {
  expect(requestedScopes(cachesOf(reads('gmail')), account('custom', ['mail']))).toEqual(['mail']);
});

test('duplicate scopes are requested once, and granted scopes are not missing', () => {
  expect(requestedScopes(cachesOf(reads('gmail'), reads('gmail')), account('google', [READ]))).toEqual([
    'openid',
    'email',
    READ,
  ]);
  expect(missingScopes([READ, SEND, SEND], [READ])).toEqual([SEND]);
});

test('the scope to change spreadsheets includes reading, and not vice versa', () => {
  const change = 'https://www.googleapis.com/auth/spreadsheets';
  const read = `${change}.readonly`;
  expect(missingScopes([read], [change])).toEqual([]);
  expect(missingScopes([change], [read])).toEqual([change]);
});

const FILES = 'https://graph.microsoft.com/Files.Read';
const watches = (spreadsheetId: string): WorkflowNode => ({
  id: 'rows',
  spreadsheet: { credential: 'gmail', spreadsheetId },
});

test('Excel workbooks need the scope for own files, and the wider one if a URL names the workbook', () => {
  const caches = (spreadsheetId: string) => cachesOf(watches(spreadsheetId));
  expect(neededScopes(caches('01CYZLFJGUJ7'), account('microsoft'))).toEqual([FILES]);
  const url = 'https://contoso.sharepoint.com/:x:/s/sales/EeUqK';
  expect(neededScopes(caches(url), account('microsoft'))).toEqual([`${FILES}.All`]);
});

test.each([
  [FILES, ['Files.Read'], true],
  [FILES, [`${FILES}.All`], true],
  [FILES, ['Files.ReadWrite'], true],
  [FILES, ['Files.ReadWrite.All'], true],
  [`${FILES}.All`, ['Files.ReadWrite.All'], true],
  [`${FILES}.All`, ['Files.Read', 'Files.ReadWrite'], false],
  [FILES, ['Mail.Read', 'openid'], false],
])('at Microsoft %s is granted with %j: %s', (needed, granted, isDone) => {
  expect(missingScopes([needed], granted)).toEqual(isDone ? [] : [needed]);
});

const DRIVE = 'https://www.googleapis.com/auth/drive';
const uploads = (parameters: Record<string, unknown>): WorkflowNode => ({
  id: 'store',
  skill: { name: 'upload_file', credential: 'gmail', parameters: { name: 'a', content: 'a', ...parameters } },
});

test.each<[object, string]>([
  [{}, `${DRIVE}.file`],
  [{ overwrite: false, folderId: '' }, `${DRIVE}.file`],
  [{ folderId: 'folder' }, DRIVE],
  [{ folderId: "{{ $('trigger').data_content.folder }}" }, DRIVE],
  [{ overwrite: true }, DRIVE],
  [{ overwrite: "{{ $('trigger').data_content.replace }}" }, DRIVE],
])('an upload with %j asks for %s', (parameters, scope) => {
  expect(neededScopes(cachesOf(uploads(parameters as Record<string, unknown>)), account('google'))).toEqual([
    scope,
  ]);
});

test('the scope for all files of a drive includes narrow scopes, and not vice versa', () => {
  const [file, read, metadata] = ['file', 'readonly', 'metadata.readonly'].map((name) => `${DRIVE}.${name}`);
  expect(missingScopes([file!, read!, metadata!], [DRIVE])).toEqual([]);
  expect(missingScopes([file!, metadata!], [read!])).toEqual([file]);
  expect(missingScopes([DRIVE, read!], [file!])).toEqual([DRIVE, read]);
});
