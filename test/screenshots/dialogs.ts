/** The pictures of what opens over a page or in it. */
import type { Page } from 'playwright-core';
import { DESK } from '../support/console/editorViews.ts';
import { canvasOpened, choose } from '../support/console/steps.ts';
import { ALL, BOTH, clicked, shows, type Shot } from './shot.ts';

const SHOP = '/console/p/shop';
const ORDERS = `${SHOP}/workflows/order-confirmation`;

/** Opens what a choice of the menu of a workflow leads to. */
const chosen = (workflow: string, choice: string) => async (page: Page) => {
  await page.getByRole('button', { name: `Actions for ${workflow}` }).click();
  await page.getByRole('menuitem', { name: choice }).click();
  await page.getByRole('dialog').waitFor();
};

/** The dialog for a new workflow, at one of its tabs. */
const creating = (tab: string, text: string | RegExp) => async (page: Page) => {
  await page.getByRole('button', { name: 'New workflow' }).click();
  await page.getByRole('tab', { name: tab }).click();
  await page.getByRole('dialog').getByText(text).first().waitFor();
};

const yaml = async (page: Page): Promise<void> => {
  await page.getByText('YAML', { exact: true }).click();
  await page.getByRole('textbox', { name: 'Workflow YAML' }).waitFor();
};

const openedCredential = (name: string) => async (page: Page) => {
  await page.getByRole('button', { name: `Open ${name}` }).click();
  await page.getByText('Used by').filter({ visible: true }).last().waitFor();
};

/** Adds a node to an active workflow. */
const added = async (page: Page): Promise<void> => {
  await canvasOpened(page, 'reply');
  await page.getByRole('button', { name: /^Fit the workflow/ }).click();
  await page.getByRole('button', { name: /^Add a node after (reply|Response)/ }).click();
  await choose(page, 'Set');
};

const savedLive = async (page: Page): Promise<void> => {
  await added(page);
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'What changes' }).waitFor();
};

/** Asks for a sign-in over the page, as a call finds no session any more. */
const sessionEnded = async (page: Page): Promise<void> => {
  await page.locator('[data-card="reply"]').waitFor();
  await page.context().clearCookies();
  // The page behind the dialog keeps what it has.
  await page.getByRole('button', { name: 'Versions' }).click();
  await page.getByRole('dialog').getByText('Session expired').waitFor();
};

export const DIALOGS: readonly Shot[] = [
  {
    name: 'overview-retry-all',
    path: `${SHOP}/overview`,
    who: 'editor',
    appearances: ALL,
    ready: async (page) => {
      await page.getByRole('button', { name: 'Retry all' }).first().click();
      await page
        .getByRole('dialog')
        .getByText(/^Effects happen again/)
        .waitFor();
    },
  },
  {
    name: 'overview-help-menu',
    path: `${SHOP}/overview`,
    who: 'editor',
    appearances: ALL,
    ready: async (page) => {
      await page.getByRole('button', { name: 'Help' }).click();
      await page.getByRole('menuitem', { name: 'Getting started' }).waitFor();
    },
  },
  {
    name: 'new-workflow',
    path: `${SHOP}/workflows`,
    who: 'editor',
    appearances: ALL,
    ready: clicked('New workflow', 'Name'),
  },
  {
    name: 'new-workflow-template',
    path: `${SHOP}/workflows`,
    who: 'editor',
    appearances: ALL,
    ready: creating('Template', 'Hello'),
  },
  {
    name: 'new-workflow-from-template',
    path: `${SHOP}/workflows`,
    who: 'editor',
    appearances: ALL,
    ready: async (page) => {
      await creating('Template', 'Hello')(page);
      await page.getByRole('button', { name: /^Sort email/ }).click();
      await page.getByRole('button', { name: 'Create and open' }).waitFor();
    },
  },
  {
    name: 'new-workflow-yaml',
    path: `${SHOP}/workflows`,
    who: 'editor',
    appearances: BOTH,
    ready: creating('YAML', 'YAML or JSON'),
  },
  {
    name: 'delete-workflow',
    path: `${SHOP}/workflows`,
    who: 'editor',
    appearances: BOTH,
    ready: chosen('Order confirmation', 'Delete'),
  },
  {
    name: 'test-run',
    path: ORDERS,
    who: 'editor',
    appearances: ALL,
    ready: async (page) => {
      await page.getByRole('button', { name: 'Test run', exact: true }).click();
      await page.getByRole('dialog').getByRole('textbox', { name: 'Test data' }).waitFor();
      await page.locator('[aria-disabled="false"]', { hasText: /^Run$/ }).waitFor();
    },
  },
  {
    name: 'test-run-listening',
    // A draft that other pictures left invalid could not listen.
    path: `${SHOP}/workflows/${DESK.conditions}`,
    who: 'editor',
    appearances: ALL,
    ready: async (page) => {
      await page.getByRole('button', { name: 'Test run', exact: true }).click();
      await page.getByRole('button', { name: 'Listen for an event' }).click();
      await page.getByText('Listening for one event').waitFor();
    },
  },
  { name: 'make-live', path: ORDERS, who: 'editor', appearances: ALL, ready: savedLive },
  {
    name: 'test-run-draft',
    path: ORDERS,
    who: 'editor',
    appearances: ALL,
    ready: async (page) => {
      await added(page);
      await page.keyboard.press('Control+Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Events still run the published version').waitFor();
      await dialog.getByRole('textbox', { name: 'Test data' }).waitFor();
    },
  },
  {
    name: 'trigger',
    path: ORDERS,
    who: 'editor',
    appearances: ALL,
    ready: async (page) => {
      await page.getByRole('button', { name: /^Webhook( · Public)?: / }).click();
      await page.getByText(/curl/).first().waitFor();
    },
  },
  {
    name: 'versions',
    path: ORDERS,
    who: 'editor',
    appearances: ALL,
    ready: async (page) => {
      await page.getByRole('button', { name: 'Versions' }).click();
      await page.getByRole('list', { name: 'Versions' }).getByRole('listitem').first().waitFor();
    },
  },
  {
    name: 'editor-draft',
    path: ORDERS,
    who: 'editor',
    appearances: ALL,
    ready: async (page) => {
      await added(page);
      await page.locator('[role=status][aria-label$="The draft is saved."]').waitFor({ state: 'attached' });
    },
  },
  {
    name: 'runs-of-workflow',
    path: ORDERS,
    who: 'editor',
    appearances: ALL,
    ready: async (page) => {
      await page.getByRole('button', { name: 'Runs of this workflow' }).click();
      await page.getByRole('dialog').getByText('Succeeded').first().waitFor();
    },
  },
  { name: 'yaml', path: ORDERS, who: 'editor', appearances: BOTH, ready: yaml },
  {
    name: 'keys',
    path: ORDERS,
    who: 'editor',
    appearances: BOTH,
    ready: async (page) => {
      await page.getByRole('button', { name: 'Keyboard shortcuts (?)' }).click();
      await shows('Move from node to node along the connections')(page);
    },
  },
  {
    name: 'new-credential',
    path: `${SHOP}/credentials`,
    who: 'editor',
    appearances: ALL,
    ready: async (page) => {
      await page.getByRole('button', { name: 'New credential' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'credential',
    path: `${SHOP}/credentials`,
    who: 'editor',
    appearances: ALL,
    ready: openedCredential('mail'),
  },
  {
    name: 'credential-lost',
    path: `${SHOP}/credentials`,
    who: 'editor',
    appearances: BOTH,
    ready: openedCredential('lost'),
  },
  // Later ones of this person would have the expanded panel too.
  {
    name: 'editor-expanded',
    path: ORDERS,
    who: 'editor',
    appearances: [...BOTH, 'medium'],
    ready: async (page) => {
      await canvasOpened(page, 'agent_1');
      await page.locator('[data-card="agent_1"]').click();
      await page.getByRole('button', { name: 'Input and output side by side' }).click();
      await page.getByRole('region', { name: 'Input' }).waitFor();
    },
  },
  // The last one of this person.
  {
    name: 'session-ended',
    path: ORDERS,
    who: 'reader',
    appearances: ALL,
    fails: /401 \(Unauthorized\) at /,
    isBusy: true,
    ready: sessionEnded,
  },
];
