/**
 * The pages of a project beside the editor: its workflows, credentials, what Git manages, who else edits, and
 * how it does.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { createCredential, nodeOf, openPage, publish } from '../support/console/steps.ts';
import { waitForReady } from '../support/installation/install.ts';
import { getJson } from '../support/cluster/kubectl.ts';
import { pollUntil } from '../support/time/poll.ts';
import { copied, member, signedIn } from './console.ts';
import {
  apply,
  cluster,
  createProject,
  exampleObjects,
  kube,
  postWebhook,
  recordedRuns,
  removeProject,
  workflowObject,
  workflowOf,
} from './environment.ts';

let project: string;
let edith: string;
let emil: string;

const counts = { id: 'count', skill: { name: 'set', parameters: { values: { total: '1 + 1' } } } };
const fails = {
  id: 'ask',
  skill: { name: 'http_request', parameters: { method: 'GET', url: 'http://nobody.invalid/' } },
};
const lost = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Credential',
  // The first of those that the Overview names: other tests add more that do not work.
  metadata: { name: 'a-lost' },
  spec: { openai: { apiKeyRef: { name: 'not-there', key: 'key' } } },
};
const agent = { id: 'write', agent: { credential: 'order-model', model: 'demo', prompt: 'Hello' } };

beforeAll(async () => {
  project = await createProject();
  [edith, emil] = await Promise.all([member(project, 'edith', 'edit'), member(project, 'emil', 'edit')]);
  await apply(
    project,
    ...(await exampleObjects('order-confirmation', 'accounts.yaml')),
    lost,
    workflowOf('count', [{ id: 'trigger', webhook: { path: 'in' } }, counts]),
    workflowOf('fail', [{ id: 'trigger', webhook: { path: 'in' } }, fails]),
    workflowOf('asks', [{ id: 'trigger', manual: {} }, agent], { active: false }),
    workflowOf('shared', [{ id: 'trigger', manual: {} }, counts], { active: false }),
  );
  await Promise.all(['count', 'fail'].map((name) => waitForReady(cluster, name, project)));
});
afterAll(() => removeProject(project));

const ended = (workflow: string, phase: string, number: number) =>
  pollUntil(
    `${number} runs of ${workflow} that ${phase}`,
    async () => {
      const found = (await recordedRuns(project)).filter(
        ({ spec, status }) => spec.workflow === workflow && status?.phase === phase,
      );
      if (found.length < number) throw new Error(`there are ${found.length}`);
      return found;
    },
    { timeoutMs: 90_000 },
  );

test('workflows are activated, duplicated, renamed, deleted and created in the live list', async () => {
  const { page } = await signedIn(edith, project);
  const row = (name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
  await row('count').getByText('Ready').filter({ visible: true }).waitFor();
  await page.getByRole('switch', { name: 'count is active' }).press('Space');
  await row('count').getByText('Inactive').filter({ visible: true }).waitFor();
  await kube([
    'patch',
    'workflows.windlass.dev/count',
    '-n',
    project,
    '--type=merge',
    '-p',
    '{"spec":{"active":true}}',
  ]);
  await row('count').getByText('Ready').filter({ visible: true }).waitFor();
  const act = async (name: string, action: string) => {
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: action }).click();
    return page.getByRole('dialog');
  };
  await (await act('asks', 'Duplicate')).getByRole('button', { name: 'Duplicate and open' }).click();
  await nodeOf(page, 'write').waitFor();
  await openPage(page, 'Workflows');
  const renaming = await act('asks (copy)', 'Rename');
  await renaming.getByLabel('Name').fill('Asks twice');
  await renaming.getByRole('button', { name: 'Rename' }).click();
  await row('Asks twice').waitFor();
  const deleting = await act('Asks twice', 'Delete');
  await deleting.getByText('It has no recorded runs.').waitFor();
  await deleting.getByRole('button', { name: 'Delete' }).click();
  await row('Asks twice').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'New workflow' }).click();
  await page.getByRole('tab', { name: 'Template' }).click();
  await page.getByRole('textbox', { name: 'Search templates' }).fill('hello');
  await page.getByRole('button', { name: /^Hello/ }).click();
  await page.getByRole('button', { name: 'Create and open' }).click();
  await nodeOf(page, 'greeting').waitFor();
  await openPage(page, 'Workflows');
  await page.getByRole('button', { name: 'New workflow' }).click();
  await page.getByRole('tab', { name: 'Paste YAML' }).click();
  await page
    .getByLabel('YAML or JSON')
    .fill('metadata: {name: pasted}\nkind: Workflow\nspec: {nodes: [{id: trigger, manual: {}}]}');
  await page.getByRole('button', { name: 'Create and open' }).click();
  await nodeOf(page, 'trigger').waitFor();
  expect((await workflowObject(project, 'pasted')).spec['nodes']).toEqual([{ id: 'trigger', manual: {} }]);
});

test('credentials show their state and usage, and are tested on request', async () => {
  const { page } = await signedIn(edith, project, 'credentials');
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  await row('a-lost')
    .getByText(/Secret/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Open order-model' }).click();
  await page.getByRole('link', { name: 'asks' }).waitFor();
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByText(/^Tested: /).waitFor();
  expect(await page.content()).not.toContain('demo-key');
});

/** Each choice of the dialog, with what must be filled in; what is secret begins with `secret`. */
const ACCOUNTS: [choice: string, name: string, kind: string, fields: Record<string, string>][] = [
  ['OpenAI or compatible', 'a-model', 'openai', { 'API key': 'secret-1' }],
  [
    'Send email',
    'a-smtp',
    'smtp',
    { Host: 'mail.example', Username: 'ada', Password: 'secret-2', From: 'a@b.example' },
  ],
  [
    'Read email',
    'a-mailbox',
    'imap',
    { Host: 'mail.example', Username: 'ada', Password: 'secret-3', TLS: 'None' },
  ],
  ['Google account', 'a-google', 'oauth2', { 'Client ID': 'windlass', 'Client secret': 'secret-4' }],
  ['Microsoft account', 'a-microsoft', 'oauth2', { 'Client ID': 'windlass', 'Client secret': 'secret-5' }],
  [
    'HTTP API',
    'an-api',
    'http',
    { 'Test URL': 'https://api.example/me', Username: 'ada', Password: 'secret-6' },
  ],
  ['Telegram bot', 'a-telegram', 'bot', { Token: '1:secret-7' }],
  ['Slack bot', 'a-slack', 'bot', { Token: 'xoxb-secret-8', 'Signing secret': 'secret-8' }],
  [
    'S3 bucket',
    'a-bucket',
    's3',
    {
      Endpoint: 'https://s3.example',
      Bucket: 'files',
      'Access key ID': 'ada',
      'Secret access key': 'secret-9',
    },
  ],
  [
    'Another account',
    'an-account',
    'oauth2',
    {
      'Client ID': 'windlass',
      'Authorization URL': 'https://login.example/auth',
      'Token URL': 'https://login.example/token',
      'Client secret': 'secret-10',
    },
  ],
];

test('credentials of every kind are created, and secret values are only in Secrets', async () => {
  const { page } = await signedIn(edith, project, 'credentials');
  for (const [choice, name, , fields] of ACCOUNTS) {
    await createCredential(page, choice, name, fields);
    await page.getByRole('button', { name: new RegExp(`^(Open|Close) ${name}$`) }).waitFor();
  }
  type Made = { items: { metadata: { name: string }; spec: object }[] };
  const made = await getJson<Made>(cluster, 'credentials.windlass.dev', '-n', project);
  const kinds = new Map(made.items.map(({ metadata, spec }) => [metadata.name, Object.keys(spec)]));
  for (const [, name, kind] of ACCOUNTS) expect([name, kinds.get(name)]).toEqual([name, [kind]]);
  expect(JSON.stringify(made)).not.toMatch(/secret-\d/);
  type Secrets = { items: { data?: Record<string, string> }[] };
  const { items } = await getJson<Secrets>(cluster, 'secrets', '-n', project);
  const stored = items.flatMap(({ data = {} }) => Object.values(data)).map((text) => atob(text));
  for (const [, , , fields] of ACCOUNTS)
    for (const value of Object.values(fields).filter((text) => text.includes('secret-')))
      expect(stored).toContain(value);
  await page.reload();
  await page.getByRole('button', { name: 'Open a-smtp' }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page
    .getByRole('dialog')
    .getByText(/The value is not shown/)
    .waitFor();
  expect(await page.content()).not.toMatch(/secret-\d/);
});

test('a workflow of Argo CD is read-only and can be copied as YAML or duplicated', async () => {
  const managed = workflowOf('from-git', [{ id: 'trigger', manual: {} }, counts], { active: false });
  const labels = { 'app.kubernetes.io/instance': 'shop' };
  const annotations = { 'argocd.argoproj.io/tracking-id': `shop:windlass.dev/Workflow:${project}/from-git` };
  await apply(project, { ...managed, metadata: { name: 'from-git', labels, annotations } });
  const { page } = await signedIn(edith, project, 'workflows/from-git');
  await page.getByText(/Argo CD.*manages this workflow/).waitFor();
  expect(await page.getByRole('button', { name: /^Publish(ed)?$/ }).count()).toBe(0);
  expect(await page.getByRole('button', { name: /^Add a node after/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Copy as YAML' }).click();
  expect(await copied(page)).toContain('name: from-git');
  await page.getByRole('button', { name: 'Try changes' }).click();
  await page.getByLabel('Workflow name').fill('Tried');
  await page.getByLabel('Workflow name').press('Enter');
  await page.getByRole('button', { name: 'Copy as patch' }).click();
  expect(parse(await copied(page))).toMatchObject({
    metadata: { name: 'from-git' },
    spec: { displayName: 'Tried' },
  });
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await page.getByRole('button', { name: 'Edit a copy' }).click();
  await page.getByRole('button', { name: 'Copy and open' }).click();
  await page.waitForURL(/workflows\/from-git-copy/);
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
});

test('a field from a manifest shows who applied it', async () => {
  const input = {
    input: stringify(workflowOf('owned', [{ id: 'trigger', manual: {} }], { displayName: 'Ours' })),
  };
  await kube(['apply', '--server-side', '--field-manager=release-bot', '-n', project, '-f', '-'], input);
  const { page } = await signedIn(edith, project, 'workflows/owned');
  await nodeOf(page, 'trigger').waitFor();
  await page.getByLabel('Workflow name').fill('Mine');
  await page.getByLabel('Workflow name').press('Enter');
  const banner = page.getByText(
    /^Change the manifest too: release-bot applied this workflow from a manifest,/,
  );
  await banner.waitFor();
  expect(await banner.count()).toBe(1);
});

test('two people see what each other publishes, and a conflict overwrites nothing', async () => {
  const [{ page: one }, { page: other }] = await Promise.all([
    signedIn(edith, project, 'workflows/shared'),
    signedIn(emil, project, 'workflows/shared'),
  ]);
  await nodeOf(other, 'count').waitFor();
  const nameOf = (page: typeof one) => page.getByLabel('Workflow name');
  await nameOf(one).fill('Seen by both');
  await nameOf(one).press('Enter');
  await publish(one);
  await other.getByTitle('Seen by both (shared)').waitFor();
  await nameOf(one).fill('Mine');
  await nameOf(one).press('Enter');
  await kube([
    'patch',
    'workflows.windlass.dev/shared',
    '-n',
    project,
    '--type=merge',
    '-p',
    '{"spec":{"displayName":"Theirs"}}',
  ]);
  await one.getByText(/published another version of this workflow/).waitFor();
  await one.getByRole('button', { name: 'Compare' }).click();
  const dialog = one.getByRole('dialog');
  await dialog.getByText('Theirs').last().waitFor();
  await dialog.getByText('Mine').first().waitFor();
  await dialog.getByText('Before both changes').click();
  await dialog.getByText('Seen by both').first().waitFor();
  expect((await workflowObject(project, 'shared')).spec['displayName']).toBe('Theirs');
  await dialog.getByRole('button', { name: 'Continue with the edited version' }).click();
  await publish(one);
  expect((await workflowObject(project, 'shared')).spec['displayName']).toBe('Mine');
});

test('the overview counts runs and failures, and lists credentials that need attention', async () => {
  await postWebhook(project, 'count', 'in', { n: 1 });
  await postWebhook(project, 'fail', 'in', { n: 2 });
  await Promise.all([ended('count', 'Succeeded', 1), ended('fail', 'Failed', 1)]);
  const { page } = await signedIn(edith, project, 'overview');
  const part = (name: string | RegExp) => page.getByRole('region', { name });
  const care = part('Needs attention').getByRole('link', { name: 'a-lost' });
  await care.waitFor();
  await part(/^Runs per/)
    .getByText('2 runs: 1 succeeded, 1 failed.')
    .first()
    .waitFor();
  const failures = part('Failures')
    .getByRole('listitem')
    .filter({ has: page.getByRole('link', { name: 'fail', exact: true }) });
  await failures.getByText('1 run', { exact: true }).waitFor();
  await failures.getByText(/ in node ask$/).waitFor();
  await care.click();
  await page.getByRole('button', { name: 'Close a-lost' }).waitFor();
  expect(new URL(page.url()).pathname).toMatch(/\/credentials$/);
});

test('the list is searched and filtered, a file is imported, and deletion lists its consequences', async () => {
  const { page } = await signedIn(edith, project);
  const links = page.getByRole('row').getByRole('link');
  const shown = (...names: string[]) =>
    pollUntil(
      `${names.join(' and ')} in the list`,
      async () => (await links.allTextContents()).toSorted().join() === names.join(),
      { timeoutMs: 100_000 },
    );
  await page.getByRole('searchbox', { name: 'Search workflows' }).fill('fai');
  await shown('fail');
  await page.getByRole('searchbox', { name: 'Search workflows' }).fill('nobody has this');
  await page.getByRole('button', { name: 'Clear search' }).click();
  await page.getByRole('combobox', { name: 'Trigger' }).click();
  await page.getByRole('option', { name: 'Webhook' }).click();
  await shown('count', 'fail');

  await page.getByRole('button', { name: 'New workflow' }).click();
  await page.getByRole('tab', { name: 'Import a file' }).click();
  const text = stringify(workflowOf('from-file', [{ id: 'trigger', webhook: { path: 'in' } }, counts]));
  const buffer = Buffer.from(text);
  await page
    .locator('input[type="file"]')
    .setInputFiles({ name: 'from-file.yaml', mimeType: 'text/yaml', buffer });
  await page.getByRole('checkbox', { name: 'Create as inactive' }).waitFor();
  await page.getByRole('button', { name: 'Create and open' }).click();
  await nodeOf(page, 'count').waitFor();
  expect((await workflowObject(project, 'from-file')).spec['active']).toBe(false);

  await openPage(page, 'Workflows');
  await page.getByRole('button', { name: 'Actions for fail' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const deleting = page.getByRole('dialog');
  await deleting.getByText(/^Its webhook stops working: http/).waitFor();
  await deleting.getByText(/recorded run.* deleted with all outputs/).waitFor();
  await deleting.getByRole('button', { name: 'Cancel' }).click();
  expect((await workflowObject(project, 'fail')).spec['active']).toBe(true);
});
