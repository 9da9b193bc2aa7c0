/** The chat panel, the conversation, the memory and the tools of agents on narrow and wide screens. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { flawsOf } from '../../support/console/axe.ts';
import { addAgents, agentViewsOf } from '../../support/console/agentViews.ts';
import { tabToElement } from '../../support/console/canvasSteps.ts';
import { show, startChromium, startSession, visit, type Visitor } from '../../support/console/chromium.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';
import type { View } from '../../support/console/dialogs.ts';
import { accountsOf, manifestOf, object } from '../../support/console/filledProject.ts';
import { addMemories, memoryViewsOf } from '../../support/console/memoryViews.ts';
import { canvasOpened, panelOf, publish } from '../../support/console/steps.ts';
import { coveredControls } from '../../support/console/topmost.ts';

const PROJECT = 'shop';
/** A project without another workflow. */
const LONELY = 'lonely';
const CHAT = `/console/p/${PROJECT}/workflows/helpdesk`;

let system: ConsoleSystem;
let browser: Browser;
let visitor: Visitor;
let page: Page;

beforeAll(async () => {
  [system, browser] = await Promise.all([startConsoleSystem(), startChromium()]);
  for (const project of [PROJECT, LONELY]) await system.createProject(project);
  await system.apply(PROJECT, manifestOf(accountsOf(system)));
  await Promise.all([addMemories(system, PROJECT), addAgents(system, PROJECT)]);
  const tools = [{ name: 'find', workflow: 'gone' }];
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'support', agent: { credential: 'model', model: 'demo', prompt: 'Hello', tools } },
  ];
  await system.apply(LONELY, manifestOf([object('Workflow', 'alone', { nodes })]));
  visitor = await visit(browser);
  ({ page } = visitor);
  page.setDefaultTimeout(40_000);
  await startSession(visitor.context, system.consoleURL, await system.tokenWith(PROJECT, 'editor', EDITOR));
});
afterAll(async () => {
  await visitor?.close();
  await browser?.close();
  await system?.stop();
});

const addressOf = (path: string) => new URL(path, system.consoleURL).href;
const chat = () => page.getByRole('dialog', { name: 'Chat' });
const workflowOfTool = () => panelOf(page).getByRole('combobox', { name: /^Workflow/ });

/** Opens the chat panel with the keyboard alone. */
async function openChat(): Promise<void> {
  await tabToElement(page, page.getByRole('button', { name: 'Chat', exact: true }));
  await page.keyboard.press('Enter');
  await chat().getByRole('textbox', { name: 'Message' }).waitFor();
  await chat().locator('textarea:focus').waitFor();
}

/** Opens it, sends a message and waits for its answer. */
async function chatByKeyboard(): Promise<void> {
  await canvasOpened(page, 'trigger');
  await openChat();
  await page.keyboard.type('Where is it?');
  await page.keyboard.press('Enter');
  await chat()
    .getByRole('link', { name: /^helpdesk-/ })
    .waitFor();
  await chat()
    .getByRole('log', { name: 'Conversation' })
    .getByText(/Where is it\?/)
    .nth(1)
    .waitFor();
}

/** Opens the list of workflows of a tool. */
async function openWorkflows(): Promise<void> {
  await canvasOpened(page, 'trigger');
  await workflowOfTool().scrollIntoViewIfNeeded();
  await workflowOfTool().click();
  await page.getByRole('option', { name: /^approval/ }).waitFor();
}

const VIEWS: readonly View[] = [
  { what: 'the chat panel', path: CHAT, open: chatByKeyboard },
  { what: 'the workflows of a tool', path: `${CHAT}?node=support`, open: openWorkflows },
  ...memoryViewsOf(PROJECT).slice(0, 3),
  ...agentViewsOf(PROJECT),
];

/** Opened on the narrowest screen, where that is hardest; layouts follow widths by style sheets alone. */
const NARROWEST = 390;
const WIDTHS = [NARROWEST, 768, 1280];
const resize = (width: number) => page.setViewportSize({ width, height: 780 });

/** What axe finds. */
async function flaws(): Promise<string[]> {
  // A list stands outside of the landmarks.
  const hasList = await page.getByRole('listbox').isVisible();
  return (await flawsOf(page)).filter((flaw) => !(hasList && flaw.startsWith('region at .mantine-Select')));
}

/** What is too wide or covered. */
async function wrongAtThisWidth(): Promise<string[]> {
  const overflow = await page.locator('html').evaluate((html) => html.scrollWidth - html.clientWidth);
  const isLayer = (await page.locator('[role="dialog"]:visible, [role="listbox"]:visible').count()) > 0;
  return [
    ...(overflow === 0 ? [] : [`${overflow} pixels too wide`]),
    ...(isLayer ? await coveredControls(page) : []),
  ];
}

test.each(VIEWS)(
  '$what is whole at each width, and accessible on a narrow screen in light colours and on a wide one in dark colours',
  async ({ path, open: openView }) => {
    await page.emulateMedia({ colorScheme: 'light' });
    await resize(NARROWEST);
    await show(page, addressOf(path));
    await openView(page);
    await expect.poll(flaws, { timeout: 30_000 }).toEqual([]);
    for (const width of WIDTHS) {
      await resize(width);
      await expect.poll(wrongAtThisWidth, { timeout: 30_000, message: `${width} pixels` }).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(flaws, { timeout: 30_000 }).toEqual([]);
    expect(visitor.complaints).toEqual([]);
  },
);

test('the chat panel closes with Escape, and gives the focus back, at each width', async () => {
  await resize(NARROWEST);
  await show(page, addressOf(CHAT));
  await canvasOpened(page, 'trigger');
  for (const width of WIDTHS) {
    await resize(width);
    await openChat();
    await page.keyboard.press('Escape');
    await chat().waitFor({ state: 'hidden' });
    const focused = () => page.locator('button:focus', { hasText: 'Chat' }).count();
    await expect.poll(focused, { timeout: 30_000 }).toBe(1);
  }
});

test('the workflow of a tool is chosen from the others of the project, and saved', async () => {
  await page.setViewportSize({ width: 1280, height: 780 });
  await show(page, addressOf(`${CHAT}?node=support`));
  await openWorkflows();
  expect(await page.getByRole('option', { name: 'helpdesk' }).count()).toBe(0);
  await workflowOfTool().fill('appro');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(() => workflowOfTool().inputValue()).toBe('approval');
  await publish(page);
});

test('a project without other workflows says so, and that the chosen one does not exist', async () => {
  const other = await visit(browser);
  await startSession(other.context, system.consoleURL, await system.tokenWith(LONELY, 'editor', EDITOR));
  await other.page.goto(new URL(`/console/p/${LONELY}/workflows/alone?node=support`, system.consoleURL).href);
  const panel = panelOf(other.page);
  await panel.getByText(/^This project has no other workflow/).waitFor();
  await panel
    .getByText(/workflow gone/i)
    .first()
    .waitFor();
  await panel.getByRole('link', { name: 'Workflows' }).waitFor();
  expect(await flawsOf(other.page)).toEqual([]);
  await other.close();
});
