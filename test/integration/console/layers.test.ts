/**
 * Every menu, popover and dialog lies above the page: each of its controls is what a click at its centre
 * hits.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signInAt, startChromium, visit, type Visitor } from '../../support/console/chromium.ts';
import { dialogsOf } from '../../support/console/dialogs.ts';
import { menusOf } from '../../support/console/menus.ts';
import { fillProject } from '../../support/console/filledProject.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';
import { coveredControls } from '../../support/console/topmost.ts';

const PROJECT = 'shop';

let system: ConsoleSystem;
let browser: Browser;
let token: string;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  await fillProject(system, PROJECT);
  token = await system.tokenWith(PROJECT, 'editor', EDITOR);
});
afterAll(async () => {
  await browser?.close();
  await system?.stop();
});

const SCREENS = [
  { width: 1_440, height: 900 },
  { width: 1_024, height: 768 },
  { width: 390, height: 780 },
];

describe.each(SCREENS)('on a screen $width pixels wide', (viewport) => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await visit(browser, { viewport });
    await signInAt(visitor.page, system.consoleURL, token);
  });
  afterAll(() => visitor?.close());

  test.each([...menusOf(PROJECT), ...dialogsOf(PROJECT)])(
    'every control of $what is clickable',
    async ({ path, open }) => {
      const { page } = visitor;
      await page.goto(new URL(path, system.consoleURL).href);
      await open(page);
      expect(await coveredControls(page)).toEqual([]);
    },
  );
});
