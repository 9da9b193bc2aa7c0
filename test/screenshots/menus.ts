/** The pictures of open menus, lists of fields, forms of credentials, and of errors. */
import type { Page } from 'playwright-core';
import { dialogsOf, type View } from '../support/console/dialogs.ts';
import { menusOf } from '../support/console/menus.ts';
import { DESK } from '../support/console/editorViews.ts';
import { canvasOpened, panelOf } from '../support/console/steps.ts';
import { ALL, type Shot } from './shot.ts';

const BASE = '/console/p/shop';
const LIST = `${BASE}/workflows`;
const RUNS = `${BASE}/runs`;
const CREDENTIALS = `${BASE}/credentials`;
const CONDITIONS = `${LIST}/${DESK.conditions}`;

const shot = (name: string, path: string, ready: Shot['ready'], more: Partial<Shot> = {}): Shot => ({
  name,
  path,
  who: 'editor',
  appearances: ALL,
  ready,
  ...more,
});

/** Views that tests open, too. Those that store something come last. */
const shared = (what: string, more: Partial<Shot> = {}): Shot => {
  const view = [...dialogsOf('shop'), ...menusOf('shop')].find((each: View) => each.what === what);
  if (view === undefined) throw new Error(`no view is ${what}`);
  return shot(what.replace(/^(the|a) /, '').replaceAll(' ', '-'), view.path, view.open, more);
};

const optionsOf = (field: string | RegExp) => async (page: Page) => {
  await page.getByRole('combobox', { name: field }).first().click();
  await page.getByRole('option').first().waitFor();
};

/** The form of a new credential of this kind, with all its fields. */
const form = (kind: string) => async (page: Page) => {
  await page.getByRole('button', { name: 'New credential' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: new RegExp(`^${kind}`) }).click();
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).waitFor();
  const more = dialog.getByRole('button', { name: 'More options' });
  if ((await more.count()) > 0) await more.click();
};

const cutOff = async (page: Page): Promise<void> => {
  await page.route('**/kube/**', (route) => route.abort());
  await page.reload();
  await page.getByText('Windlass cannot be reached').first().waitFor();
  await page.unrouteAll();
};
const CUT_OFF: Partial<Shot> = { fails: /ERR_FAILED at \S+\/kube\//, isBusy: true };

/** The menu of the node, on the canvas. */
const nodeMenu = async (page: Page): Promise<void> => {
  await canvasOpened(page, 'large');
  await page.getByRole('button', { name: /^Fit the workflow/ }).click();
  await page.locator('[data-card="large"]').click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Duplicate' }).waitFor();
};

const discarded = async (page: Page): Promise<void> => {
  await canvasOpened(page, 'trigger');
  const field = page.getByLabel('Workflow name');
  await field.fill('A name that is long enough to need the whole bar');
  await field.press('Enter');
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await page.getByText('Changes discarded.').waitFor();
};

export const MENUS: readonly Shot[] = [
  shot('menu-of-the-account', LIST, async (page) => {
    await page.getByRole('link', { name: 'Order confirmation' }).waitFor();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
  }),
  shared('the menu of a workflow'),
  shared('the list of workflow statuses'),
  shared('the renaming'),
  shared('the duplication'),
  shared('the suspension'),
  shared('the list of skills'),
  shared('the list of credentials'),
  shot('id-of-a-node', `${LIST}/order-confirmation?node=mail`, async (page) => {
    await page.getByRole('button', { name: 'Change ID' }).click();
    await panelOf(page).getByRole('textbox', { name: 'ID', exact: true }).waitFor();
  }),
  shared('the references'),
  shot('copy-of-a-managed-workflow', `${LIST}/from-git`, async (page) => {
    const more = page.getByRole('button', { name: 'Show more' });
    const copy = page.getByRole('button', { name: 'Edit a copy' });
    await more.or(copy).first().waitFor();
    if (await more.isVisible()) await more.click();
    await copy.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Copy and open' }).waitFor();
  }),
  shared('the import of a file'),
  shared('the menu of a run'),
  shared('the change of a credential'),
  shared('the deletion of a credential'),
  shot(
    'navigation-open',
    `${BASE}/overview`,
    async (page) => {
      await page.getByRole('button', { name: 'Open the navigation' }).click();
      await page.getByRole('link', { name: 'Templates' }).waitFor();
    },
    { appearances: ['narrow'] },
  ),
  shot('last-row-menu', LIST, async (page) => {
    await page
      .getByRole('button', { name: /^Actions for/ })
      .last()
      .click();
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor();
  }),
  shot('workflow-triggers', LIST, optionsOf('Trigger'), { appearances: ['light', 'dark', 'medium'] }),
  shot('workflow-active', LIST, optionsOf('Active')),
  shot('workflows-no-hit', LIST, async (page) => {
    await page.getByLabel('Search workflows').fill('zzz');
    await page.getByRole('link', { name: 'Order confirmation' }).waitFor({ state: 'hidden' });
  }),
  shot('run-filter-workflows', RUNS, optionsOf('Workflow')),
  shot('run-filter-tests', RUNS, optionsOf('Test runs')),
  shot('runs-filtered', `${RUNS}?phase=Failed`, async (page) => {
    await page.getByRole('button', { name: 'Clear filters' }).waitFor();
    await page
      .getByRole('row', { name: /^Failed / })
      .first()
      .waitFor();
  }),
  shot('credential-smtp', CREDENTIALS, form('Send email')),
  shot('credential-google', CREDENTIALS, form('Google account')),
  shot('credential-openai', CREDENTIALS, form('OpenAI')),
  shot('credential-http', CREDENTIALS, form('HTTP')),
  shot('credential-refused', CREDENTIALS, async (page) => {
    await form('Send email')(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('dialog').locator('[aria-invalid=true]').first().waitFor();
  }),
  shot('node-menu', CONDITIONS, nodeMenu),
  shot('editor-chosen', CONDITIONS, async (page) => {
    await canvasOpened(page, 'large');
    await page.getByRole('button', { name: /^Fit the workflow/ }).click();
    await page.keyboard.press('ControlOrMeta+a');
  }),
  shot('connections-tab', `${CONDITIONS}?node=trigger`, async (page) => {
    await page.getByRole('tab', { name: 'Connections' }).click();
    await page.getByRole('group', { name: 'Runs next' }).waitFor();
  }),
  shot('discarded', `${LIST}/nightly-report`, discarded),
  shot('overview-cut-off', `${BASE}/overview`, cutOff, CUT_OFF),
  shot('runs-cut-off', RUNS, cutOff, CUT_OFF),
  shot('editor-cut-off', CONDITIONS, cutOff, CUT_OFF),
  shared('the conflict'),
];
