/**
 * A real Chromium, without a window: Debian's, driven by playwright-core. Whatever a page breaks on its way
 * is collected.
 */
import { chromium, type Browser, type BrowserContext, type ConsoleMessage, type Page } from 'playwright-core';
import { ensurePackages } from '../../cluster/packages.ts';
import { createProgress } from '../process/progress.ts';

export type Visitor = {
  context: BrowserContext;
  page: Page;
  /**
   * Errors that scripts threw, violations of the page's policies, and messages of the browser's console above
   * info.
   */
  complaints: string[];
  close(): Promise<void>;
};

export type VisitorOptions = {
  colorScheme?: 'light' | 'dark';
  viewport?: { width: number; height: number };
};

const WIDE = { width: 1_360, height: 850 };

/** Starts the browser; installs it where it is missing. Close it. */
export async function startChromium(): Promise<Browser> {
  await ensurePackages(['chromium'], createProgress(process.stderr));
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    // As root there is no sandbox; pages come from servers of the test.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

/** Somebody with a browser of their own: no cookie of anybody else. */
export async function visit(browser: Browser, options: VisitorOptions = {}): Promise<Visitor> {
  const { colorScheme = 'light', viewport = WIDE } = options;
  const context = await browser.newContext({
    colorScheme,
    viewport,
    reducedMotion: 'reduce',
    locale: 'en-GB',
  });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      complaints.push(`${message.type()}: ${message.text()}${whereOf(message)}`);
  });
  return { context, page, complaints, close: () => context.close() };
}

/** The browser tells only beside its words which address did not answer well. */
function whereOf(message: ConsoleMessage): string {
  const { url } = message.location();
  return message.text().startsWith('Failed to load resource') ? ` at ${url}` : '';
}

/** Signs in with a token, at any page of the console. */
export async function signInAt(page: Page, url: string, token: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Token', { exact: true }).fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('banner').waitFor();
}
