/**
 * A real Chromium, without a window: Debian's, driven by playwright-core. Whatever a page breaks on its way
 * is collected. Tests use its shell without the parts of a browser that surround a page, which take a third
 * of the processor time.
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
  /** Fingers in place of a mouse, for the style sheets. */
  hasTouch?: boolean;
};

const WIDE = { width: 1_360, height: 850 };

/**
 * Without V8's compiler TurboFan tests take less processor time: they leave most pages after about a second,
 * before its optimized code pays off.
 */
const WITHOUT_TURBOFAN = '--js-flags=--no-turbofan';

/**
 * Starts the browser; installs it where it is missing. Close it. `optimizes`: as the browser of a user, for
 * measurements.
 */
export async function startChromium({ optimizes = false } = {}): Promise<Browser> {
  const name = optimizes ? 'chromium' : 'chromium-headless-shell';
  await ensurePackages([name], createProgress(process.stderr));
  return chromium.launch({
    executablePath: `/usr/bin/${name}`,
    args: [
      // As root there is no sandbox; pages come from servers of the test.
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      ...(optimizes ? [] : [WITHOUT_TURBOFAN]),
    ],
  });
}

/** Somebody with a browser of their own: no cookie of anybody else. */
export async function visit(browser: Browser, options: VisitorOptions = {}): Promise<Visitor> {
  const { colorScheme = 'light', viewport = WIDE, hasTouch = false } = options;
  const context = await browser.newContext({
    colorScheme,
    viewport,
    hasTouch,
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

/**
 * Signs in with a token, as the page for it would: whatever is opened next is shown to somebody who is signed
 * in. `url`: where the console is.
 */
export async function startSession(context: BrowserContext, url: string, token: string): Promise<void> {
  const answer = await context.request.post(`${url}session`, {
    data: { token },
    headers: { 'x-windlass-console': '1', 'sec-fetch-site': 'same-origin' },
  });
  if (!answer.ok())
    throw new Error(`the sign-in was answered with ${answer.status()}: ${await answer.text()}`);
}

/**
 * Shows a page of the console as its own links do, without loading the console again; loads it where it is
 * not loaded. Between them it shows the page for what does not exist, so that nothing is left of the one
 * before.
 */
export async function show(page: Page, address: string): Promise<void> {
  const { origin, pathname, search, hash } = new URL(address);
  if (!page.url().startsWith(`${origin}/console/`)) return void (await page.goto(address));
  const push = (path: string) => page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
  await push('/console/nowhere');
  await page.getByText('Page not found').waitFor();
  await push(`${pathname}${search}${hash}`);
}

/** Signs in with a token, at any page of the console. */
export async function signInAt(page: Page, url: string, token: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Token', { exact: true }).fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('banner').waitFor();
}
