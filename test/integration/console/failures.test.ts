/** Groups of equal failures on the overview: their runs, their credentials, and retries of all of them. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { workflowRuns, workflows as workflowsOf } from '../../../operator/shared/resources.ts';
import { flawsOf, LAYERS } from '../../support/console/axe.ts';
import { show, startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import {
  EDITOR,
  MAIL_ACCOUNT,
  READER,
  startConsoleSystem,
  type ConsoleSystem,
} from '../../support/console/consoleSystem.ts';
import { accountsOf, manifestOf, object, post } from '../../support/console/filledProject.ts';
import { listen, type Listening } from '../../support/network/listen.ts';
import { pollUntil } from '../../support/time/poll.ts';

const PROJECT = 'shop';
const SERVED = { type: 'Routed', status: 'True' };
const HOSTILE = '<img src=x onerror=hacked()> "><script>hacked()</script>';

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;
let page: Page;
let token: string;
let shop: Listening;
let answer = 500;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  shop = await listen((_request, response) => void response.writeHead(answer).end('{}'));
  await system.createProject(PROJECT);
  await system.apply(PROJECT, manifestOf([...accountsOf(system), wrongPassword(), ...workflows()]));
  // The credential of `letters` is rejected, so that it is served without being ready.
  for (const name of ['stock', 'letters', 'hostile'])
    await system.harness.waitFor(PROJECT, name, SERVED, 90_000);
  for (const path of ['stock/in', 'stock/in', 'stock/in', 'letters/in', 'hostile/in'])
    await post(system, `${PROJECT}.${path}`, { n: 1 });
  token = await system.tokenWith(PROJECT, 'editor', EDITOR);
  await pollUntil('five failed runs', async () => (await phases('Failed')).length === 5, {
    timeoutMs: 90_000,
  });
});
beforeEach(async () => {
  await visitor?.close();
  await enter(token);
});
afterAll(async () => {
  await visitor?.close();
  await browser?.close();
  await shop?.close();
  await system?.stop();
});

async function enter(as: string, until: () => Promise<unknown> = () => Promise.resolve()): Promise<void> {
  visitor = await visit(browser);
  ({ page } = visitor);
  page.setDefaultTimeout(40_000);
  await startSession(visitor.context, system.consoleURL, as);
  const reached = until();
  await show(page, new URL(`/console/p/${PROJECT}/overview`, system.consoleURL).href);
  await group('stock').waitFor();
  await reached;
}

/** With a password that the mail server refuses. */
const wrongPassword = () =>
  object('Credential', 'wrong', {
    smtp: {
      host: '127.0.0.1',
      port: system.mail.smtpPort,
      tls: 'None',
      username: MAIL_ACCOUNT.username,
      passwordRef: { name: 'accounts', key: 'model-api-key' },
      from: 'orders@example.com',
    },
  });

function workflows(): object[] {
  const trigger = { id: 'trigger', webhook: { path: 'in' } };
  const parameters = { to: 'ada@example.com', subject: 'Order', body: 'Thank you.' };
  const skill = { name: 'send_email', credential: 'wrong', parameters };
  const ask = { name: 'http_request', parameters: { method: 'GET', url: shop.url } };
  const active = true;
  return [
    object('Workflow', 'stock', {
      active,
      nodes: [trigger, { id: 'ask', displayName: 'Ask the shop', skill: ask }],
    }),
    object('Workflow', 'letters', { active, nodes: [trigger, { id: 'mail', skill }] }),
    object('Workflow', 'hostile', {
      active,
      nodes: [trigger, { id: 'stop', fail: { reason: 'Stopped', message: HOSTILE } }],
    }),
  ];
}

async function phases(phase: string): Promise<(string | undefined)[]> {
  const { items } = await system.harness.client.list(workflowRuns, { namespace: PROJECT });
  return items.filter(({ status }) => status?.phase === phase).map(({ spec }) => spec.retryOf);
}

const group = (workflow: string) =>
  page
    .getByRole('region', { name: 'Failures' })
    .getByRole('listitem')
    .filter({ has: page.getByRole('link', { name: workflow, exact: true }) });
const dialog = () => page.getByRole('dialog', { name: /^Retry failed runs of/ });

test('equal failures are one group with its runs, and a message is only text', async () => {
  await group('stock').getByText('3 runs', { exact: true }).waitFor();
  await group('stock')
    .getByText(/ in Ask the shop$/)
    .waitFor();
  await group('hostile').getByText(HOSTILE).waitFor();
  expect(await page.locator('img[src="x"]').count()).toBe(0);
  await group('stock').getByRole('link', { name: 'Show runs' }).click();
  await page.getByText(/^3 of 5 runs$/).waitFor();
  await page
    .getByRole('cell', { name: / · Ask the shop$/ })
    .first()
    .waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('a failed login leads from the group and from the run to its credential, and back', async () => {
  await group('letters').getByRole('link', { name: 'wrong', exact: true }).click();
  await page.getByRole('button', { name: 'Close wrong' }).waitFor();
  await page.getByRole('link', { name: 'Back to the overview' }).click();
  await group('letters')
    .getByRole('link', { name: /^Last failure/ })
    .click();
  await page.getByRole('region', { name: 'Selected node' }).getByRole('link', { name: 'wrong' }).click();
  await page.getByRole('button', { name: 'Close wrong' }).waitFor();
  await page.getByRole('link', { name: /^Back to run letters-/ }).click();
  await page.getByRole('button', { name: 'Retry', exact: true }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('the version of a run leads to that version in the editor', async () => {
  await group('letters')
    .getByRole('link', { name: /^Last failure/ })
    .click();
  const { status } = await system.harness.client.get(workflowsOf, { namespace: PROJECT, name: 'letters' });
  await page.getByRole('link', { name: status?.revision ?? 'none', exact: true }).click();
  const version = page
    .getByRole('dialog', { name: 'Versions' })
    .getByRole('listitem')
    .and(page.locator('[aria-current="true"]'));
  await version.getByText('Published', { exact: true }).waitFor();
  await expect.poll(() => new URL(page.url()).search).toBe('');
  expect(visitor.complaints).toEqual([]);
});

test('a user who may not start runs cannot retry', async () => {
  await visitor.close();
  const reader = await system.tokenWith(PROJECT, 'reader', READER);
  const isReview = (text: string | null) => text?.includes('"execute"') === true && text.includes('"stock"');
  await enter(reader, () => page.waitForResponse((sent) => isReview(sent.request().postData())));
  expect(await page.getByRole('button', { name: 'Retry all' }).count()).toBe(0);
});

test('all runs of a group are retried once, and those that cannot be are listed', async () => {
  await group('stock').getByRole('button', { name: 'Retry all' }).click();
  await dialog().getByText('3 runs will be retried, the oldest first.').waitFor();
  await dialog().getByText('Effects happen again at node Ask the shop').waitFor();
  expect(await flawsOf(page, LAYERS)).toEqual([]);
  answer = 200;
  await dialog().getByRole('button', { name: 'Retry 3 runs' }).click();
  await dialog().getByText('3 retries started.').waitFor();
  await dialog().getByRole('button', { name: 'Close', exact: true }).last().click();
  await pollUntil('three successful retries', async () => (await phases('Succeeded')).length === 3, {
    timeoutMs: 60_000,
  });
  expect(new Set(await phases('Succeeded')).size).toBe(3);
  const { items } = await system.harness.client.list(workflowRuns, { namespace: PROJECT });
  const retry = items.find(({ status }) => status?.phase === 'Succeeded')?.metadata.name ?? '';
  await show(page, new URL(`/console/p/${PROJECT}/runs/${retry}`, system.consoleURL).href);
  await page.getByText(/^Started by\s*editor \(service account of shop\)$/).waitFor();
  await show(page, new URL(`/console/p/${PROJECT}/overview`, system.consoleURL).href);
  await group('stock').getByRole('button', { name: 'Retry all' }).click();
  await dialog().getByText('Nothing to do: each of these runs was retried.').waitFor();
  expect(await dialog().getByRole('button', { name: 'Retry 0 runs' }).isDisabled()).toBe(true);
  expect(visitor.complaints).toEqual([]);
});

test('a refused retry is listed with its reason, beside a link to its run', async () => {
  await page.route('**/retry', (route) =>
    route.fulfill({
      status: 409,
      contentType: 'application/problem+json',
      body: JSON.stringify({ type: 'x/decision-missing', title: 'Decision missing', detail: 'Decide it.' }),
    }),
  );
  await group('letters').getByRole('button', { name: 'Retry all' }).click();
  await dialog()
    .getByText(/^At most once: mail/)
    .waitFor();
  await dialog().getByRole('button', { name: 'Retry 1 run' }).click();
  const listed = dialog().getByRole('list', { name: 'Runs that were not retried' });
  await listed.getByText('Decision missing. Decide it.').waitFor();
  expect(await listed.getByRole('link', { name: /^letters-/ }).count()).toBe(1);
  expect(await flawsOf(page, LAYERS)).toEqual([]);
});

test('once a failed overview is read, whoever pressed Try again is in its content', async () => {
  const readingRuns = /\/runs\?limit=/;
  await page.route(readingRuns, (route) => route.fulfill({ status: 403, body: '' }));
  await page.reload();
  await page.getByRole('button', { name: 'Try again' }).focus();
  await page.unroute(readingRuns);
  await page.keyboard.press('Enter');
  await group('stock').waitFor();
  expect(await page.evaluate('document.activeElement.id')).toBe('main');
});
