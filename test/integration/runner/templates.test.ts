/**
 * Templates of the console that no test on a cluster executes, with the test data of their trigger, as a
 * runner executes them: the mail server, the model and the API speak the protocols.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { createSandbox } from '../../../nodes/code/sandbox.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { connectRunStore } from '../../../store/connection.ts';
import { startMailServer } from '../../support/providers/mail/mailServer.ts';
import { startModelServer } from '../../support/providers/model/modelServer.ts';
import { startRedis } from '../../support/runStore/redis.ts';
import {
  openTestProject,
  startTestRunner,
  type CredentialTable,
} from '../../support/runner/runnerProject.ts';

const FOLDER = join(import.meta.dirname, '../../../examples');
const NAMES = ['invoices', 'mail-count', 'new-orders', 'morning-mail', 'mail-reply'];

const login = { username: 'orders', password: 'test-secret' };
const [redis, mail, model] = await Promise.all([
  startRedis(),
  startMailServer(login),
  startModelServer({ apiKey: login.password }),
]);
const sandbox = createSandbox();
const conn = connectRunStore({ url: redis.url, name: 'test' });
const project = await openTestProject(conn);
const manifests = (await Promise.all(NAMES.map(manifestsOf))).flat();
const runner = startTestRunner(conn, project.uid, { sandbox, credentials: accounts() });
afterAll(async () => {
  await runner.stop(0);
  await conn.close();
  await sandbox.close();
  await Promise.all([mail.close(), model.close(), redis.stop()]);
});

type Manifest = { kind: string; metadata: { name: string }; spec: object };

/** The objects of an example, with the servers of this test in place of those of the demo. */
async function manifestsOf(name: string): Promise<Manifest[]> {
  const read = (file: string) => readFile(join(FOLDER, name, file), 'utf8');
  const texts = await Promise.all([
    read('workflow.yaml'),
    name === 'new-orders' ? '' : read('accounts.yaml'),
  ]);
  return texts
    .flatMap((text) =>
      parseAllDocuments(text.replaceAll(/^( *)host: mail\.windlass-demo.*$/gm, '$1host: 127.0.0.1')),
    )
    .map((document) => JSON.stringify(document.toJS()))
    .map((text) => text.replaceAll('mail.windlass-demo.svc:8025', `127.0.0.1:${mail.httpPort}`))
    .map((text) => text.replaceAll('model.windlass-demo.svc:8080', `127.0.0.1:${model.port}`))
    .map((text) => JSON.parse(text.replaceAll('"port":2525', `"port":${mail.smtpPort}`)) as Manifest | null)
    .filter((manifest) => manifest !== null);
}

function accounts(): CredentialTable {
  const own = manifests.filter(({ kind }) => kind === 'Credential');
  return Object.fromEntries(own.map(({ metadata, spec }) => [metadata.name, { spec }]));
}

/** The end of as many runs of the example, one after the other, each with the test data of its trigger. */
async function executed(name: string, times = 1): Promise<RunState[]> {
  const { spec } = manifests.find(({ kind, metadata }) => kind === 'Workflow' && metadata.name === name)!;
  const { nodes, edges } = spec as WorkflowSpec;
  const [trigger] = nodes.map((node) => node.webhook ?? node.schedule ?? node.mail);
  const revision = await project.deploy(nodes, edges);
  const input = JSON.stringify(trigger?.testData);
  const ended: RunState[] = [];
  for (let time = 0; time < times; time += 1)
    ended.push(await project.ended(await project.send(revision, null, { input })));
  return ended;
}

const replies = (runs: readonly RunState[]) => runs.map(({ reply }) => JSON.parse(reply?.body ?? 'null'));
const mailsTo = (address: string) => mail.messages.filter(({ to }) => to.includes(address));

test('invoices mails the exact total of an order, and answers with it', async () => {
  expect(replies(await executed('invoices'))).toEqual([{ number: 'A-1001', total: '71.04' }]);
  expect(mailsTo('ada@example.com')).toMatchObject([{ subject: 'Invoice for order A-1001: 71.04 EUR' }]);
});

test('mail-count counts the mails of a customer that the API lists', async () => {
  const [reply] = replies(await executed('mail-count')) as { count: number; subjects: string[] }[];
  const known = mailsTo('ada@example.com').map(({ subject }) => subject);
  expect(reply).toEqual({ email: 'ada@example.com', count: known.length, subjects: known });
});

test('new-orders answers with the orders that no earlier call had', async () => {
  const order = { id: 'A-1', item: 'desk' };
  expect(replies(await executed('new-orders', 2))).toEqual([
    { fresh: [order], duplicates: 0 },
    { fresh: [], duplicates: 1 },
  ]);
});

test('morning-mail sends the mail of the day', async () => {
  await executed('morning-mail');
  expect(mailsTo('team@example.com')).toMatchObject([
    { subject: 'Good morning: 2026-01-05', text: expect.stringContaining('2026-01-05T05:30:00Z') },
  ]);
});

test('mail-reply answers the sender in the same conversation, with the text of the model', async () => {
  const [run] = await executed('mail-reply');
  const text = run?.nodes.find(({ id }) => id === 'agent_1')?.output?.text_content ?? '';
  expect(text).toMatch(/\S/);
  const [answer] = mailsTo('ada@example.com').filter(({ subject }) => subject === 'Re: My order A-1001');
  expect(answer?.headers).toMatchObject({ 'in-reply-to': '<a1@example.com>' });
  expect(answer?.text).toContain(text.slice(0, 20));
});
