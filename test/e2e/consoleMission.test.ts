/**
 * What the console is for, in a real browser: accounts, a workflow from its name to its first order, and what
 * became of it.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pollUntil } from '../support/time/poll.ts';
import {
  addAfter,
  chooseCredential,
  createCredential,
  createWorkflow,
  nodeOf,
  openNode,
  openOutput,
  openPage,
  panelOf,
  publish,
  runEnded,
  testRun,
  writeExpression,
} from '../support/console/steps.ts';
import { runCommand } from '../support/process/command.ts';
import { copied, member, signedIn } from './console.ts';
import { createProject, mailsTo, removeProject, resumeModel, send, workflowObject } from './environment.ts';

const order = (number: string, email: string) => ({
  number,
  customer: { name: 'Ada', email },
  items: [{ name: 'lamp', quantity: 2, price: 19.5 }],
});

let project: string;
let token: string;

beforeAll(async () => {
  project = await createProject();
  token = await member(project, 'ada', 'edit');
});
afterAll(() => removeProject(project));

test('a workflow is built, tested, activated and watched in the browser', async () => {
  const { page, complaints } = await signedIn(token, project, 'credentials');
  await createCredential(page, 'OpenAI or compatible', 'model', {
    'Base URL': 'http://model.windlass-demo.svc:8080/v1',
    'API key': 'demo-key',
  });
  await createCredential(page, 'Send email', 'mail', {
    Host: 'mail.windlass-demo.svc',
    Port: '2525',
    TLS: 'None',
    Username: 'orders',
    Password: 'demo-password',
    From: 'Orders <orders@example.com>',
  });

  await createWorkflow(page, 'Order confirmation', /^Webhook/);
  await addAfter(page, 'trigger', 'Agent');
  await chooseCredential(page, 'model');
  await panelOf(page)
    .getByLabel(/^Model/)
    .fill('demo-paused');
  await writeExpression(page, 'Prompt', "Confirm this order to Ada: {{ $('trigger').data_content }}");
  await addAfter(page, 'agent_1', 'Send email');
  await chooseCredential(page, 'mail');
  await writeExpression(page, 'To', "{{ $('trigger').data_content.customer.email }}");
  await writeExpression(page, 'Subject', "Order {{ $('trigger').data_content.number }}");
  await writeExpression(page, 'Body', "{{ $('agent_1').text_content }}");

  const tried = `tried-${project}@example.com`;
  await testRun(page, { text_content: '', data_content: order('T-1', tried) });
  await openNode(page, 'agent_1');
  await openOutput(page);
  // A log is there only while the model writes.
  const live = panelOf(page).getByRole('log', { name: 'Text of agent_1' });
  await live.getByText(/Hello/).waitFor();
  const early = (await live.textContent()) ?? '';
  await page.getByRole('status').filter({ hasText: 'Running' }).waitFor();
  await resumeModel(tried);
  expect(await runEnded(page)).toMatch(/^Succeeded/);
  const late = await panelOf(page).getByRole('region', { name: 'Text of agent_1' }).textContent();
  expect(late?.startsWith(early) && late.length > early.length, `${early} → ${late}`).toBe(true);
  for (const node of ['trigger', 'send_email']) {
    await openNode(page, node);
    await openOutput(page);
    await panelOf(page).getByText(tried).first().waitFor();
  }
  const mail = await pollUntil(
    'the mail of the test run',
    async () => {
      const [first] = await mailsTo(tried);
      if (first === undefined) throw new Error('it has not come');
      return first;
    },
    { timeoutMs: 100_000 },
  );
  expect(mail.subject).toBe('Order T-1');
  expect((await workflowObject(project, 'order-confirmation')).spec['active']).not.toBe(true);

  await publish(page);
  await page.getByRole('switch', { name: 'Active' }).click();
  await page.getByText('Waiting for a request').waitFor();
  await page.getByRole('button', { name: 'Copy URL' }).click();
  const url = await copied(page);
  const ordered = `ordered-${project}@example.com`;
  await resumeModel(ordered);
  const answer = await send('POST', url, order('T-2', ordered));
  expect(answer.status).toBeLessThan(300);
  await page.getByText(ordered).first().waitFor();
  await page.keyboard.press('Escape');

  await openPage(page, 'Runs');
  await page
    .getByRole('link', { name: /Order confirmation|order-confirmation/ })
    .first()
    .waitFor();
  await pollUntil(
    'the mail of the order',
    async () => {
      const { length } = await mailsTo(ordered);
      if (length !== 1) throw new Error(`${length} have come`);
      return true;
    },
    { timeoutMs: 100_000 },
  );
  // The browser itself tells of dry runs that are refused.
  expect(complaints.filter((each) => !/Failed to load resource/.test(each))).toEqual([]);
  await nodeOf(page, 'trigger').waitFor({ state: 'detached' });
});

test('a webhook with a response needs a name, two choices and a toggle; the example command calls it', async () => {
  const { page } = await signedIn(token, project);
  await createWorkflow(page, 'Echo', /^Webhook/);
  await page.getByText('Click + to add the next node').waitFor();
  await addAfter(page, 'trigger', 'Response');
  await testRun(page, { data_content: { name: 'Ada' } });
  expect(await runEnded(page)).toMatch(/^Succeeded/);

  await publish(page);
  await page.getByRole('switch', { name: 'Active' }).click();
  await page.getByText('Waiting for a request').waitFor();
  await page.getByRole('button', { name: 'Copy command' }).click();
  const command = await copied(page);
  expect(await runCommand('sh', ['-c', `${command} --silent --show-error --fail`])).toBe('{"name":"Ada"}');
  await page.getByText('Request received').waitFor();
});
