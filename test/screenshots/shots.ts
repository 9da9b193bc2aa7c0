/** The pictures: which page, who sees it, in which appearances, and what must be there first. */
import type { Page } from 'playwright-core';
import { agentViewsOf } from '../support/console/agentViews.ts';
import { loopViewsOf } from '../support/console/loopViews.ts';
import { memoryViewsOf } from '../support/console/memoryViews.ts';
import { DIALOGS } from './dialogs.ts';
import { EDITING } from './editing.ts';
import { MENUS } from './menus.ts';
import { ALL, BOTH, canvas, clicked, shows, type Shot } from './shot.ts';

const SHOP = '/console/p/shop';
const EMPTY = '/console/p/empty';
const ORDERS = `${SHOP}/workflows/order-confirmation`;

/** The newest run of what fails, or of the orders. */
const runOf =
  (workflow: 'stock-check' | 'order-confirmation') =>
  async (page: Page): Promise<void> => {
    await page.locator(`a[href*="/runs/${workflow}"]`).first().click();
    await page.getByRole('list', { name: /^Nodes of the run/ }).waitFor();
    await page.getByRole('region', { name: 'Output', exact: true }).waitFor();
    await page.getByRole('button', { name: /^(?:Retry|Run again)\b/ }).waitFor();
  };

/** A run on the canvas, with what the node of that id came to. */
const onCanvas =
  (workflow: 'stock-check' | 'order-confirmation', node: string, text: RegExp) =>
  async (page: Page): Promise<void> => {
    await runOf(workflow)(page);
    await page.getByRole('link', { name: 'Open in editor' }).click();
    await page.locator(`[data-card="${node}"][data-phase]`).click();
    await page.getByRole('tab', { name: 'Output' }).click();
    await page.getByRole('complementary').getByText(text).first().waitFor();
    // On a narrow screen the panel lies over the canvas.
    if ((page.viewportSize()?.width ?? 0) > 800)
      await page.getByRole('button', { name: /^Fit the workflow/ }).click();
  };

/** The node's panel, with the values that the last run gives. */
const panel = (value: RegExp) => async (page: Page) => {
  await page.getByRole('tab', { name: 'Parameters' }).waitFor();
  await page.getByRole('complementary').getByText(value).first().waitFor();
};

const charts = (page: Page) => page.locator('.recharts-surface').nth(2).waitFor();

/** The page, when what it asks for does not come. */
const cutOff = async (page: Page): Promise<void> => {
  await page.route('**/kube/**', (route) => route.abort());
  await page.reload();
  await page.getByText('Windlass cannot be reached').waitFor();
  await page.unrouteAll();
};

/** The page, while its stream is interrupted. */
const notLive = async (page: Page): Promise<void> => {
  await page.route('**/console/live', (route) => route.abort());
  await page.reload();
  await page.getByText(/^(Reconnecting…|Offline)$/).waitFor();
  await page.unrouteAll();
};

export const SHOTS: readonly Shot[] = [
  {
    name: 'sign-in',
    path: '/console/',
    who: 'nobody',
    appearances: ALL,
    ready: shows('How do I get a token?'),
  },
  {
    name: 'projects',
    path: '/console/',
    who: 'both',
    appearances: ALL,
    ready: shows('Project name'),
  },
  {
    name: 'project-switcher',
    path: `${SHOP}/workflows`,
    who: 'both',
    appearances: ALL,
    ready: async (page) => {
      await page.getByRole('combobox', { name: 'Project' }).click();
      await page.getByRole('option', { name: 'billing' }).waitFor();
    },
  },
  {
    name: 'open-project',
    path: `${SHOP}/workflows`,
    who: 'both',
    appearances: ALL,
    ready: async (page) => {
      await page.getByRole('combobox', { name: 'Project' }).click();
      await page.getByRole('option', { name: 'Open another project…' }).click();
      await page.getByRole('dialog').getByLabel('Project name').waitFor();
    },
  },
  {
    name: 'workflows',
    path: `${SHOP}/workflows`,
    who: 'editor',
    appearances: ALL,
    ready: shows('Check the stock'),
  },
  {
    name: 'workflows-reader',
    path: `${SHOP}/workflows`,
    who: 'reader',
    appearances: ALL,
    ready: shows('Check the stock'),
  },
  {
    name: 'workflows-empty',
    path: `${EMPTY}/workflows`,
    who: 'newcomer',
    appearances: ALL,
    ready: shows('Create your first workflow'),
  },
  {
    name: 'workflows-cut-off',
    path: `${SHOP}/workflows`,
    who: 'reader',
    appearances: BOTH,
    fails: /ERR_FAILED at \S+\/kube\//,
    isBusy: true,
    ready: cutOff,
  },
  {
    name: 'workflows-not-live',
    path: `${SHOP}/workflows`,
    who: 'editor',
    appearances: ALL,
    fails: /ERR_FAILED at \S+\/console\/live$/,
    isBusy: true,
    ready: notLive,
  },
  { name: 'editor', path: ORDERS, who: 'editor', appearances: ALL, ready: canvas },
  {
    name: 'editor-run',
    path: `${SHOP}/runs`,
    who: 'editor',
    appearances: [...ALL, 'wide'],
    ready: onCanvas('order-confirmation', 'agent_1', /thank you for your order/),
  },
  {
    name: 'editor-sent',
    path: `${SHOP}/runs`,
    who: 'editor',
    appearances: ALL,
    ready: async (page) => {
      await onCanvas('order-confirmation', 'agent_1', /thank you for your order/)(page);
      await page.getByRole('tab', { name: 'Sent' }).click();
      await page.getByText('You confirm orders of a small shop.').first().waitFor();
    },
  },
  {
    name: 'editor-failed-run',
    path: `${SHOP}/runs`,
    who: 'editor',
    appearances: BOTH,
    ready: onCanvas('stock-check', 'ask', /Unreachable/),
  },
  {
    name: 'editor-node',
    path: `${ORDERS}?node=mail`,
    who: 'editor',
    appearances: ALL,
    ready: panel(/thank you/),
  },
  {
    name: 'editor-agent',
    path: `${ORDERS}?node=agent_1`,
    who: 'editor',
    appearances: BOTH,
    ready: panel(/Confirm this order/),
  },
  {
    name: 'editor-schedule',
    path: `${SHOP}/workflows/nightly-report?node=trigger`,
    who: 'editor',
    appearances: BOTH,
    ready: panel(/Europe\/Berlin/),
  },
  {
    name: 'editor-settings',
    path: `${ORDERS}?settings=true`,
    who: 'editor',
    appearances: ALL,
    ready: (page) =>
      page
        .getByRole('complementary', { name: 'Workflow settings' })
        .getByText('Error workflow')
        .first()
        .waitFor(),
  },
  { name: 'editor-reader', path: ORDERS, who: 'reader', appearances: BOTH, ready: canvas },
  {
    name: 'editor-managed',
    path: `${SHOP}/workflows/from-git`,
    who: 'editor',
    appearances: ALL,
    ready: canvas,
  },
  {
    name: 'editor-new',
    path: `${SHOP}/workflows/draft`,
    who: 'editor',
    appearances: BOTH,
    ready: clicked(/^Add a node after/, 'Search nodes'),
  },
  {
    name: 'editor-100-nodes',
    path: `${SHOP}/workflows/large`,
    who: 'editor',
    appearances: BOTH,
    ready: canvas,
  },
  {
    name: 'editor-missing',
    path: `${SHOP}/workflows/not-there`,
    who: 'reader',
    appearances: BOTH,
    fails: /404 \(Not Found\) at \S+\/workflows\/not-there$/,
    ready: shows(/^Workflow .* not found/),
  },
  { name: 'runs', path: `${SHOP}/runs`, who: 'editor', appearances: ALL, ready: shows(/Failed/) },
  {
    name: 'runs-nothing-fits',
    path: `${SHOP}/runs?phase=Cancelled`,
    who: 'editor',
    appearances: BOTH,
    ready: shows('No runs match the filters'),
  },
  {
    name: 'runs-empty',
    path: `${EMPTY}/runs`,
    who: 'newcomer',
    appearances: BOTH,
    ready: shows('No runs yet'),
  },
  { name: 'run', path: `${SHOP}/runs`, who: 'editor', appearances: ALL, ready: runOf('order-confirmation') },
  { name: 'run-failed', path: `${SHOP}/runs`, who: 'editor', appearances: ALL, ready: runOf('stock-check') },
  {
    name: 'run-missing',
    path: `${SHOP}/runs/order-confirmation-0aaaaaaaaaaaaaa`,
    who: 'reader',
    appearances: BOTH,
    fails: /404 \(Not Found\) at \S+\/(workflowruns|runs)\/order-confirmation-0a{14}$/,
    ready: shows(/^Run .* not found/),
  },
  { name: 'credentials', path: `${SHOP}/credentials`, who: 'editor', appearances: ALL, ready: shows('lost') },
  {
    name: 'credentials-empty',
    path: `${EMPTY}/credentials`,
    who: 'newcomer',
    appearances: BOTH,
    ready: shows('No credentials yet'),
  },
  {
    name: 'templates',
    path: `${SHOP}/templates`,
    who: 'editor',
    appearances: ALL,
    ready: shows(/of \d+ templates/),
  },
  {
    name: 'template',
    path: `${SHOP}/templates?template=row-mail`,
    who: 'editor',
    appearances: ALL,
    ready: shows('Values to complete'),
  },
  { name: 'overview', path: `${SHOP}/overview`, who: 'editor', appearances: ALL, ready: charts },
  {
    name: 'overview-empty',
    path: `${EMPTY}/overview`,
    who: 'newcomer',
    appearances: ALL,
    ready: shows('Build a workflow and try it'),
  },
  {
    name: 'docs',
    path: '/console/docs/triggers/mail',
    who: 'editor',
    appearances: ALL,
    ready: (page) => page.getByRole('navigation', { name: 'On this page' }).waitFor(),
  },
  {
    name: 'docs-part',
    path: '/console/docs/credentials#oauth2',
    who: 'editor',
    appearances: ALL,
    ready: (page) => page.locator('#doc-oauth2').waitFor(),
  },
  {
    name: 'docs-search',
    path: '/console/docs/language',
    who: 'editor',
    appearances: BOTH,
    ready: async (page) => {
      await page.getByLabel('Search the documentation').fill('memory');
      await page.getByRole('link', { name: 'Memory', exact: true }).first().waitFor();
    },
  },
  {
    name: 'forbidden',
    path: '/console/p/kube-system/workflows',
    who: 'reader',
    appearances: ALL,
    fails: /403 \(Forbidden\) at \S+\/namespaces\/kube-system\//,
    ready: shows(/not allowed/i),
  },
  {
    name: 'nowhere',
    path: `${SHOP}/nowhere`,
    who: 'reader',
    appearances: BOTH,
    ready: shows('Page not found'),
  },
  ...[...loopViewsOf('shop'), ...agentViewsOf('shop'), ...memoryViewsOf('shop')].map(
    ({ name, path, open }): Shot => ({ name, path, who: 'editor', appearances: BOTH, ready: open }),
  ),
  ...EDITING,
  ...MENUS,
  ...DIALOGS,
];
