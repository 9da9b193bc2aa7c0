/** The menus and dialogs of the console, opened by the steps of a user, and changes by other clients. */
import type { Page } from 'playwright-core';
import { canvasOpened, choose } from './steps.ts';

/**
 * A page and the steps that open a view. `remains`: it leaves changes, or something open beside the page, so
 * that the console must be loaded again after it.
 */
export type View = {
  what: string;
  path: string;
  open: (page: Page) => Promise<unknown>;
  remains?: true;
};

/** Changes an object of the project with another field manager; returns the status of the response. */
async function changeElsewhere(
  page: Page,
  at: { project: string; resource: 'workflows' | 'credentials'; name: string; manager?: string },
  patch: object,
): Promise<number> {
  const { project, resource, name, manager = 'kubectl-edit' } = at;
  const path = `/kube/apis/windlass.dev/v1alpha1/namespaces/${project}/${resource}/${name}`;
  const { origin } = new URL(page.url());
  const query = new URLSearchParams({ fieldManager: manager });
  const answer = await page.context().request.patch(`${origin}${path}?${query.toString()}`, {
    data: JSON.stringify(patch),
    headers: {
      'content-type': 'application/merge-patch+json',
      'x-windlass-console': '1',
      'sec-fetch-site': 'same-origin',
    },
  });
  return answer.status();
}

/** Renames the workflow here and elsewhere, and opens the conflict dialog. */
export async function openConflict(
  page: Page,
  { project, name, manager }: { project: string; name: string; manager?: string },
): Promise<void> {
  await canvasOpened(page, 'trigger');
  const field = page.getByLabel('Workflow name');
  const before = await field.inputValue();
  await field.fill(`${before} here`.slice(-200));
  await field.press('Enter');
  await page.getByRole('button', { name: 'Publish', exact: true }).waitFor();
  await changeElsewhere(
    page,
    { project, resource: 'workflows', name, ...(manager !== undefined && { manager }) },
    { spec: { displayName: `${before} there`.slice(-200) } },
  );
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.getByRole('textbox', { name: 'Your version' }).waitFor();
}

/** Changes the nodes of the workflow after a run, and opens the comparison of revisions. */
export async function openComparison(
  page: Page,
  { project, name, nodes }: { project: string; name: string; nodes: object[] },
): Promise<void> {
  await changeElsewhere(page, { project, resource: 'workflows', name }, { spec: { nodes } });
  await page.locator(`a[href*="/runs/${name}-"]`).last().click();
  await page.getByRole('button', { name: 'Compare with current' }).click();
  await page.getByRole('textbox', { name: 'Current version' }).waitFor();
}

const clicked = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('button', { name }).first().click();

/** Adds a node to the workflow of the orders. */
async function addSet(page: Page): Promise<void> {
  await canvasOpened(page, 'reply');
  await clicked(page, /^Fit the workflow/);
  await page.getByRole('button', { name: /^Add a node after (reply|Response)/ }).click();
  await choose(page, 'Set');
}

/** Opens a dialog from the menu of a workflow in the list. */
export async function openRowDialog(page: Page, workflow: string, choice: string): Promise<void> {
  await clicked(page, `Actions for ${workflow}`);
  await page.getByRole('menuitem', { name: choice }).click();
  await page.getByRole('dialog').waitFor();
}

/** Opens a tab of the dialog for new workflows. */
async function openCreation(page: Page, tab: string): Promise<void> {
  await clicked(page, 'New workflow');
  await page.getByRole('dialog').getByRole('tab', { name: tab }).click();
  await page.getByRole('tabpanel', { name: tab }).waitFor();
}

/** Opens a dialog of the expanded credential. */
async function openCredentialDialog(page: Page, choice: 'Edit' | 'Delete'): Promise<void> {
  await page.getByRole('button', { name: choice, exact: true }).click();
  await page.getByRole('dialog').waitFor();
}

/** The menus and dialogs of the prepared project. */
export function dialogsOf(project: string): View[] {
  const base = `/console/p/${project}`;
  const list = `${base}/workflows`;
  const orders = `${list}/order-confirmation`;
  const mail = `${base}/credentials?credential=mail`;
  const ran = { project, name: 'stock-check', nodes: [{ id: 'trigger', webhook: { path: 'stock' } }] };
  return [
    {
      what: 'the menu of a workflow',
      path: list,
      open: async (page) => {
        await clicked(page, 'Actions for A draft');
        await page.getByRole('menuitem', { name: 'Delete' }).waitFor();
      },
    },
    { what: 'the deletion', path: list, open: (page) => openRowDialog(page, 'A draft', 'Delete') },
    {
      what: 'the creation',
      path: list,
      open: async (page) => {
        await clicked(page, 'New workflow');
        await page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor();
      },
    },
    { what: 'the duplication', path: list, open: (page) => openRowDialog(page, 'A draft', 'Duplicate') },
    { what: 'the renaming', path: list, open: (page) => openRowDialog(page, 'A draft', 'Rename') },
    { what: 'the creation by template', path: list, open: (page) => openCreation(page, 'Template') },
    {
      what: 'the credentials of a template',
      path: list,
      open: async (page) => {
        await openCreation(page, 'Template');
        await page.getByRole('button', { name: /^Sort email/ }).click();
        await page.getByRole('button', { name: 'Create and open' }).waitFor();
      },
    },
    { what: 'the creation by YAML', path: list, open: (page) => openCreation(page, 'Paste YAML') },
    { what: 'the import of a file', path: list, open: (page) => openCreation(page, 'Import a file') },
    {
      what: 'the menu of the account',
      remains: true,
      path: list,
      open: async (page) => {
        await clicked(page, /^Account/);
        await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
      },
    },
    {
      what: 'the choice of the project',
      remains: true,
      path: list,
      open: async (page) => {
        await page.getByRole('combobox', { name: 'Project' }).click();
        await page.getByRole('option', { name: project }).waitFor();
      },
    },
    {
      what: 'the command palette',
      remains: true,
      path: orders,
      open: async (page) => {
        await canvasOpened(page, 'trigger');
        await page.keyboard.press('Control+k');
        await page.getByRole('dialog').getByRole('option', { name: 'Write the confirmation' }).waitFor();
      },
    },
    {
      what: 'the name of another project',
      remains: true,
      path: list,
      open: async (page) => {
        await page.getByRole('combobox', { name: 'Project' }).click();
        await page.getByRole('option', { name: 'Open another project…' }).click();
        await page.getByRole('dialog').getByLabel('Project name').waitFor();
      },
    },
    {
      what: 'the menu of a run',
      path: `${base}/runs?workflow=order-confirmation`,
      open: async (page) => {
        await page.locator('a[href*="/runs/order-"]').first().click();
        await clicked(page, /^(?:Retry|Run again)\b/);
        await page.getByRole('menuitem', { name: 'with the current version' }).waitFor();
      },
    },
    {
      what: 'the retry of equal failures',
      path: `${base}/overview`,
      open: async (page) => {
        await clicked(page, 'Retry all');
        await page
          .getByRole('dialog')
          .getByText(/^Effects happen again/)
          .waitFor();
      },
    },
    {
      what: 'the help menu',
      path: list,
      open: async (page) => {
        await clicked(page, 'Help');
        await page.getByRole('menuitem', { name: 'Getting started' }).waitFor();
      },
    },
    {
      what: 'the comparison of revisions',
      remains: true,
      path: `${base}/runs?workflow=stock-check`,
      open: (page) => openComparison(page, ran),
    },
    {
      what: 'the conflict',
      remains: true,
      path: `${list}/nightly-report`,
      open: (page) => openConflict(page, { project, name: 'nightly-report' }),
    },
    {
      what: 'the changes that go live',
      remains: true,
      path: orders,
      open: async (page) => {
        await addSet(page);
        await clicked(page, 'Publish');
        await page.getByRole('dialog').getByRole('textbox', { name: 'What changes' }).waitFor();
      },
    },
    {
      what: 'the test run of a draft',
      remains: true,
      path: orders,
      open: async (page) => {
        await addSet(page);
        await page.keyboard.press('Control+Enter');
        const testRun = page.getByRole('dialog', { name: 'Test run' });
        await testRun.getByText('Events still run the published version').waitFor();
      },
    },
    {
      what: 'the versions',
      path: orders,
      open: async (page) => {
        await clicked(page, 'Versions');
        await page
          .getByRole('dialog')
          .getByRole('list', { name: 'Versions' })
          .getByRole('listitem')
          .first()
          .waitFor();
      },
    },
    {
      what: 'the address of the trigger',
      path: orders,
      open: async (page) => {
        await clicked(page, /^Webhook( · Public)?: /);
        await page.getByText(/curl/).first().waitFor();
      },
    },
    {
      what: 'the runs of a workflow',
      path: orders,
      open: async (page) => {
        await clicked(page, 'Runs of this workflow');
        await page.getByRole('dialog').getByText('Succeeded').first().waitFor();
      },
    },
    {
      what: 'the keys',
      remains: true,
      path: orders,
      open: async (page) => {
        await clicked(page, 'Keyboard shortcuts (?)');
        await page.getByRole('dialog').waitFor();
      },
    },
    {
      what: 'the picker',
      path: orders,
      open: async (page) => {
        await clicked(page, /^Add a node after/);
        await page.getByLabel('Search nodes').waitFor();
      },
    },
    {
      what: 'the test run',
      path: orders,
      open: async (page) => {
        await clicked(page, 'Test run');
        await page.getByRole('dialog').getByRole('textbox', { name: 'Test data' }).waitFor();
      },
    },
    {
      what: 'a new credential',
      path: `${base}/credentials`,
      open: async (page) => {
        await clicked(page, 'New credential');
        await page.getByRole('dialog').waitFor();
      },
    },
    { what: 'the change of a credential', path: mail, open: (page) => openCredentialDialog(page, 'Edit') },
    {
      what: 'the deletion of a credential',
      path: mail,
      open: (page) => openCredentialDialog(page, 'Delete'),
    },
  ];
}
