/** The pictures: which page, who looks at it, in which looks, and what must be there first. */
import type { Page } from 'playwright-core';

export type Look = 'light' | 'dark' | 'narrow';

export type Shot = {
  name: string;
  /** Below the host. */
  path: string;
  /** `newcomer`: an editor of an empty project; `nobody`: not signed in. */
  who: 'editor' | 'reader' | 'newcomer' | 'nobody';
  looks: readonly Look[];
  /** Resolves when the page shows what the picture is about. */
  ready: (page: Page) => Promise<unknown>;
};

const ALL = ['light', 'dark', 'narrow'] as const;
const shows = (text: string | RegExp) => (page: Page) => page.getByText(text).first().waitFor();
const canvas = (page: Page) => page.locator('.react-flow__node').first().waitFor();

const newest = async (page: Page): Promise<void> => {
  await page.locator('a[href*="/runs/"]').first().click();
  await page
    .getByText(/trigger/)
    .first()
    .waitFor();
};

/** The newest run of the orders on the canvas, with what its agent wrote. */
const ranOrder = async (page: Page): Promise<void> => {
  await page.locator('a[href*="/runs/order-confirmation"]').first().click();
  await page.getByRole('link', { name: 'Open on the canvas' }).click();
  await page.locator('[data-card="agent_1"][data-phase="Succeeded"]').click();
  await page.getByRole('tab', { name: 'Output' }).click();
  await page
    .getByText(/thank you for your order/)
    .first()
    .waitFor();
};

const panel = (page: Page) => page.getByRole('tab', { name: 'Parameters' }).waitFor();
const charts = (page: Page) => page.locator('.recharts-surface').nth(2).waitFor();

export const SHOTS: readonly Shot[] = [
  { name: 'sign-in', path: '/console/', who: 'nobody', looks: ALL, ready: shows('Where do I get a token?') },
  {
    name: 'workflows',
    path: '/console/p/shop/workflows',
    who: 'editor',
    looks: ALL,
    ready: shows('Check the stock'),
  },
  {
    name: 'workflows-reader',
    path: '/console/p/shop/workflows',
    who: 'reader',
    looks: ['light'],
    ready: shows('Check the stock'),
  },
  {
    name: 'workflows-empty',
    path: '/console/p/empty/workflows',
    who: 'newcomer',
    looks: ALL,
    ready: shows(/workflow/i),
  },
  {
    name: 'editor',
    path: '/console/p/shop/workflows/order-confirmation',
    who: 'editor',
    looks: ALL,
    ready: canvas,
  },
  {
    name: 'editor-run',
    path: '/console/p/shop/runs',
    who: 'editor',
    looks: ['light', 'dark'],
    ready: ranOrder,
  },
  {
    name: 'editor-node',
    path: '/console/p/shop/workflows/order-confirmation?node=mail',
    who: 'editor',
    looks: ALL,
    ready: panel,
  },
  {
    name: 'editor-reader',
    path: '/console/p/shop/workflows/order-confirmation',
    who: 'reader',
    looks: ['light'],
    ready: canvas,
  },
  {
    name: 'editor-managed',
    path: '/console/p/shop/workflows/from-git',
    who: 'editor',
    looks: ['light'],
    ready: canvas,
  },
  {
    name: 'editor-100-nodes',
    path: '/console/p/shop/workflows/large',
    who: 'editor',
    looks: ['light', 'dark'],
    ready: canvas,
  },
  {
    name: 'editor-missing',
    path: '/console/p/shop/workflows/not-there',
    who: 'editor',
    looks: ['light'],
    ready: shows(/There is no workflow/),
  },
  { name: 'runs', path: '/console/p/shop/runs', who: 'editor', looks: ALL, ready: shows(/Failed/) },
  {
    name: 'runs-empty',
    path: '/console/p/empty/runs',
    who: 'newcomer',
    looks: ['light'],
    ready: shows(/run/i),
  },
  { name: 'run', path: '/console/p/shop/runs', who: 'editor', looks: ALL, ready: newest },
  {
    name: 'credentials',
    path: '/console/p/shop/credentials',
    who: 'editor',
    looks: ALL,
    ready: shows('lost'),
  },
  {
    name: 'credentials-empty',
    path: '/console/p/empty/credentials',
    who: 'newcomer',
    looks: ['light'],
    ready: shows(/credential/i),
  },
  {
    name: 'overview',
    path: '/console/p/shop/overview',
    who: 'editor',
    looks: ALL,
    ready: charts,
  },
  {
    name: 'forbidden',
    path: '/console/p/kube-system/workflows',
    who: 'editor',
    looks: ['light'],
    ready: shows(/not allowed/i),
  },
];
