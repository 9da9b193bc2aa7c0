/**
 * What the end-to-end tests of the console work with: one browser for each file, people with rights of their
 * own, and a picture in .windlass/ of what somebody saw when a test failed.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, onTestFinished } from 'vitest';
import { startChromium, startSession, visit, type Visitor } from '../support/console/chromium.ts';
import { gateway, kube } from './environment.ts';

const pictures = join(import.meta.dirname, '../../.windlass');

/** Where the console is. */
export const consoleURL = `${gateway.internalURL}/console/`;

let browser: Promise<Browser> | undefined;
afterAll(async () => (await browser)?.close());

/** Somebody with a browser of their own, who is not signed in; gone when the test has finished. */
export async function visitor(): Promise<Visitor> {
  browser ??= startChromium();
  const there = await visit(await browser);
  there.page.setDefaultTimeout(100_000);
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await picture(there.page, task.name);
    await there.close();
  });
  return there;
}

async function picture(page: Page, test: string): Promise<void> {
  await mkdir(pictures, { recursive: true });
  await page.screenshot({
    path: join(pictures, `${test.replace(/\W+/g, '-').slice(0, 60)}-${Date.now()}.png`),
  });
}

/** Somebody who is signed in and sees that page of the project. */
export async function signedIn(token: string, project: string, rest = 'workflows'): Promise<Visitor> {
  const there = await visitor();
  await startSession(there.context, consoleURL, token);
  await there.page.goto(`${consoleURL}p/${project}/${rest}`);
  await there.page.getByRole('banner').waitFor();
  return there;
}

/**
 * A token of a new account that holds one of Kubernetes' own roles in the project: what a team's members
 * hold.
 */
export async function member(project: string, name: string, role: 'edit' | 'view'): Promise<string> {
  await kube(['create', 'serviceaccount', name, '-n', project]);
  const bound = ['--clusterrole', role, '--serviceaccount', `${project}:${name}`, '-n', project];
  await kube(['create', 'rolebinding', name, ...bound]);
  return tokenOf(project, name);
}

/** Another token of an account. */
export const tokenOf = async (project: string, name: string): Promise<string> =>
  (await kube(['create', 'token', name, '-n', project])).trim();

/** What the page has copied for pasting elsewhere. */
export const copied = (page: Page): Promise<string> =>
  page.evaluate<string>('navigator.clipboard.readText()');
