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
function worldOf(...nodes: WorkflowNode[]) {
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

test('connecting asks for what the workflows need that use the account, and for what the credential names', () => {
  const caches = worldOf(reads('gmail'), answers);
  expect(requestedScopes(caches, account('google', ['https://example.com/more']))).toEqual([
    'openid',
    'email',
    'https://example.com/more',
    READ,
    SEND,
  ]);
});

test('who reads mail alone is not asked for the right to send it', () => {
  expect(neededScopes(worldOf(reads('gmail')), account('google'))).toEqual([READ]);
  expect(neededScopes(worldOf(reads('other')), account('google'))).toEqual([]);
});

test('where mail of Google is read by IMAP the right to that is asked for', () => {
  const { spec, ...rest } = account('google');
  const byImap = { ...rest, spec: { oauth2: { ...spec.oauth2!, imap: { username: 'ada@example.com' } } } };
  expect(neededScopes(worldOf(reads('gmail'), answers), byImap)).toEqual(['https://mail.google.com/', SEND]);
});

test('of a custom provider nothing is asked for but what the credential names', () => {
  expect(requestedScopes(worldOf(reads('gmail')), account('custom', ['mail']))).toEqual(['mail']);
});

test('what is asked for twice is asked for once, and what was granted is not missing', () => {
  expect(requestedScopes(worldOf(reads('gmail'), reads('gmail')), account('google', [READ]))).toEqual([
    'openid',
    'email',
    READ,
  ]);
  expect(missingScopes([READ, SEND, SEND], [READ])).toEqual([SEND]);
});

test('who may change spreadsheets may read them, and not the other way round', () => {
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

test('of workbooks of Excel those of the account alone may be read, and others where one is named by its URL', () => {
  const caches = (spreadsheetId: string) => worldOf(watches(spreadsheetId));
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
  expect(neededScopes(worldOf(uploads(parameters as Record<string, unknown>)), account('google'))).toEqual([
    scope,
  ]);
});

test('the right to all files of a drive includes the narrow ones, and not the other way round', () => {
  const [file, read, metadata] = ['file', 'readonly', 'metadata.readonly'].map((name) => `${DRIVE}.${name}`);
  expect(missingScopes([file!, read!, metadata!], [DRIVE])).toEqual([]);
  expect(missingScopes([file!, metadata!], [read!])).toEqual([file]);
  expect(missingScopes([DRIVE, read!], [file!])).toEqual([DRIVE, read]);
});
