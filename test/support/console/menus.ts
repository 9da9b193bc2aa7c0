/** The lists, popovers and confirmations of the console, each opened by the steps of a user. */
import type { Page } from 'playwright-core';
import { openRowDialog, type View } from './dialogs.ts';
import { canvasOpened } from './steps.ts';

/** Opens the list of a field. */
const listOpened = (field: string | RegExp) => async (page: Page) => {
  await page.getByRole('combobox', { name: field }).first().click();
  await page.getByRole('option').first().waitFor();
};

/** Changes the name of the workflow without publishing it. */
async function changeName(page: Page): Promise<void> {
  await canvasOpened(page, 'trigger');
  const field = page.getByLabel('Workflow name');
  await field.fill('Another name');
  await field.press('Enter');
  await page.getByRole('button', { name: 'Publish', exact: true }).waitFor();
}

/** The lists, popovers and confirmations. */
export function menusOf(project: string): View[] {
  const list = `/console/p/${project}/workflows`;
  const mail = `${list}/order-confirmation?node=mail`;
  return [
    { what: 'the list of workflow statuses', path: list, open: listOpened('Status') },
    { what: 'the list of run statuses', path: `/console/p/${project}/runs`, open: listOpened('Status') },
    { what: 'the list of skills', path: mail, open: listOpened(/^Skill/) },
    { what: 'the list of credentials', path: mail, open: listOpened(/^Credential/) },
    {
      what: 'the references',
      path: mail,
      open: async (page) => {
        await page
          .getByRole('button', { name: /^Insert reference into/ })
          .first()
          .click();
        await page.getByRole('dialog').getByRole('button').first().waitFor();
      },
    },
    {
      what: 'the fields of a switch',
      remains: true,
      path: `${list}/order-confirmation`,
      open: async (page) => {
        await canvasOpened(page, 'trigger');
        await page.getByRole('button', { name: 'Add a node after trigger', exact: true }).click();
        await page.getByLabel('Search nodes').fill('switch');
        await page.getByRole('option', { name: 'Switch' }).first().click();
        await page.getByRole('option', { name: /^customer\.email/ }).waitFor();
        await page.keyboard.press('ArrowDown');
        await page.locator('[role=option][data-combobox-selected]').waitFor();
      },
    },
    {
      what: 'the suspension',
      path: list,
      open: (page) => openRowDialog(page, 'Order confirmation', 'Suspend'),
    },
    {
      what: 'the copy of a managed workflow',
      path: `${list}/from-git`,
      open: async (page) => {
        await page.getByRole('button', { name: 'Show more' }).click();
        await page.getByRole('button', { name: 'Edit a copy' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Copy and open' }).waitFor();
      },
    },
    {
      what: 'the question before changes are lost',
      remains: true,
      path: `${list}/draft`,
      open: async (page) => {
        // A draft that cannot be stored.
        await page.route(/\/workflowdrafts/, (route) =>
          route.request().method() === 'GET' ? route.continue() : route.abort(),
        );
        await changeName(page);
        await page.getByRole('link', { name: 'Go to workflows' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Publish and leave' }).waitFor();
        await page.unroute(/\/workflowdrafts/);
      },
    },
    {
      what: 'the question before activation',
      remains: true,
      path: `${list}/draft`,
      open: async (page) => {
        await changeName(page);
        await page.getByRole('switch', { name: 'Active' }).click({ force: true });
        await page.getByRole('dialog').getByRole('button', { name: 'Publish and activate' }).waitFor();
      },
    },
  ];
}
