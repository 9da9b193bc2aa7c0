/** Steps of a user in the console, by the visible texts only. */
import type { Locator, Page } from 'playwright-core';
import { pollUntil } from '../time/poll.ts';

/** The pages of a project. */
export type PageName = 'Workflows' | 'Runs' | 'Credentials' | 'Overview';

/** Opens a page through the navigation. */
export async function openPage(page: Page, name: PageName): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
}

/** Creates a workflow by name and trigger, and waits for its canvas. */
export async function createWorkflow(page: Page, name: string, trigger: RegExp): Promise<void> {
  await openPage(page, 'Workflows');
  await page
    .getByRole('button', { name: /new workflow|create a workflow/i })
    .first()
    .click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByRole('radio', { name: trigger }).click();
  await dialog.getByRole('button', { name: 'Create and open' }).click();
  await nodeOf(page, 'trigger').waitFor();
}

/** The node on the canvas. */
export function nodeOf(page: Page, id: string): Locator {
  return page.locator(`[data-card="${id}"]`);
}

/** Waits until the canvas shows the node and is editable, which follows a moment later. */
export async function canvasOpened(page: Page, id: string): Promise<void> {
  await nodeOf(page, id).waitFor();
  await page.getByRole('button', { name: 'Undo', exact: true }).waitFor();
}

/** Writes another name of the workflow into the header. */
export async function renameWorkflow(page: Page, name: string): Promise<void> {
  const field = page.getByLabel('Workflow name');
  await field.fill(name);
  await field.press('Enter');
}

/** Adds a node with the + button of another one; its panel opens. */
export async function addAfter(page: Page, label: string, choice: string): Promise<void> {
  await page.getByRole('button', { name: `Add a node after ${label}`, exact: true }).click();
  await choose(page, choice);
}

/** Adds a node from the gallery; its panel opens, or what else the choice opens. */
export async function choose(page: Page, choice: string, opened = panelOf(page)): Promise<void> {
  await page.getByLabel('Search nodes').fill(choice);
  await page.getByRole('option', { name: choice }).first().click();
  await opened.waitFor();
}

/** The open node panel. */
export function panelOf(page: Page): Locator {
  return page.getByRole('complementary', { name: /^Node / }).first();
}

/** Switches to the canvas or to YAML. */
export async function view(page: Page, name: 'Canvas' | 'YAML'): Promise<void> {
  await page.getByRole('radiogroup', { name: 'View' }).getByText(name, { exact: true }).click();
}

/** Opens a node's panel, after making the node visible. */
export async function openNode(page: Page, id: string): Promise<Locator> {
  await nodeOf(page, id).waitFor();
  const close = page.getByRole('button', { name: 'Close the panel' });
  if (await close.isVisible()) await close.click();
  await page.getByRole('button', { name: 'Fit the workflow (1)' }).click();
  await nodeOf(page, id).click();
  const panel = page.getByRole('complementary', { name: `Node ${id}` }).first();
  await panel.waitFor();
  return panel;
}

/** A field with completion of references. */
export function codeField(page: Page, field: string): Locator {
  return panelOf(page).locator(`[contenteditable="true"][aria-label="${field}"]`);
}

/** Writes into a field with completion. Automatically closed brackets are typed over. */
export async function writeExpression(page: Page, field: string, text: string): Promise<void> {
  const input = panelOf(page).getByRole('textbox', { name: field, exact: true });
  await input.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

/** Chooses the condition of the open connection; the field is searched by its name. */
export async function chooseCondition(
  page: Page,
  { field, operator, value, row = '' }: { field: string; operator: string; value?: string; row?: string },
): Promise<void> {
  const inputOf = (name: string) => {
    const label = { name: `${name}${row}`, exact: true };
    return page.getByRole('textbox', label).or(page.getByRole('combobox', label));
  };
  await inputOf('Field').fill(field);
  await page
    .getByRole('option', { name: new RegExp(`^${field}`) })
    .first()
    .click();
  await inputOf('Operator').click();
  await page.getByRole('option', { name: operator, exact: true }).click();
  if (value !== undefined) await inputOf('Value').fill(value);
}

/** Selects a credential in the open panel. */
export async function chooseCredential(page: Page, name: string): Promise<void> {
  await panelOf(page)
    .getByRole('combobox', { name: /^Credential/ })
    .or(panelOf(page).getByRole('textbox', { name: /^Credential/ }))
    .click();
  await page.getByRole('option', { name }).first().click();
}

/** Opens the dialog that shows what will be published. */
export async function askToPublish(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
}

/** The dialog that shows what will be published. */
export function publishDialog(page: Page): Locator {
  return page.getByRole('dialog', { name: 'Publish these changes?' });
}

/** Publishes the changes, after they were shown, and waits until it is done. */
export async function publish(page: Page): Promise<void> {
  await askToPublish(page);
  await publishDialog(page)
    .getByRole('button', { name: /^Publish/ })
    .click();
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
}

/** Waits until the draft is stored. */
export async function draftSaved(page: Page): Promise<void> {
  await page.getByRole('status', { name: 'Unpublished changes. The draft is saved.' }).waitFor();
}

/** Accepts what an editor offers. A list that is renewed in the same moment takes no click. */
export async function acceptOption(page: Page, name: string): Promise<void> {
  const option = page.getByRole('option', { name });
  await option.waitFor();
  const isAccepted = async () => {
    await option.click({ timeout: 1_000 }).catch(() => undefined);
    return (await option.count()) === 0;
  };
  await pollUntil(`${name} being accepted`, isAccepted, { timeoutMs: 100_000 });
}

/** The text of the YAML tab. */
export async function yamlOn(page: Page): Promise<string> {
  const lines = page.getByRole('textbox', { name: 'Workflow YAML' }).locator('.cm-line');
  await lines.first().waitFor();
  return (await lines.allTextContents()).join('\n');
}

/** Replaces the YAML. */
export async function writeYaml(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Workflow YAML' }).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

/** Drags a value of the tab Input into a field of the tab Parameters. */
export async function dragInto(page: Page, value: string, field: string): Promise<void> {
  const panel = panelOf(page);
  await panel.getByRole('tab', { name: 'Input' }).click();
  await panel.getByRole('button', { name: new RegExp(`^${value}`) }).hover();
  await page.mouse.down();
  await panel.getByRole('tab', { name: 'Parameters' }).hover();
  const input = codeField(page, field);
  await input.hover();
  // The first move enters the field, the next one is over it: only then can it be dropped.
  await input.hover();
  await page.mouse.up();
}

/** Enters the input of a test run into its dialog. */
export async function writeTestData(page: Page, data: object): Promise<void> {
  const text = JSON.stringify(data);
  const input = page.getByRole('dialog').getByRole('textbox', { name: 'Test data' });
  await input.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
  // If the input lost the focus meanwhile, the run would have the example.
  await input.locator('.cm-line', { hasText: text }).waitFor();
}

/** Starts a test run with the given or default data, up to a node if one is given. */
export async function testRun(page: Page, data?: object, until?: string): Promise<void> {
  if (until === undefined) await page.getByRole('button', { name: 'Test run', exact: true }).click();
  else await askToRunTo(page, until);
  const dialog = page.getByRole('dialog', { name: /^Test run/ });
  await dialog.getByRole('textbox', { name: 'Test data' }).waitFor();
  if (data !== undefined) await writeTestData(page, data);
  await dialog.getByRole('button', { name: /^Run/ }).click();
  await dialog.waitFor({ state: 'hidden', timeout: 60_000 });
}

/** Opens the dialog of a test run up to this node. */
export async function askToRunTo(page: Page, id: string): Promise<void> {
  await openNode(page, id);
  await openOutput(page);
  await panelOf(page).getByRole('button', { name: 'Run to here' }).click();
}

/** Waits until the run on the canvas has ended and returns its result. */
export async function runEnded(page: Page): Promise<string> {
  const said = page.getByRole('status').filter({ hasText: /^(Succeeded|Failed|Cancelled)/ });
  await said.first().waitFor({ timeout: 90_000 });
  return (await said.first().textContent()) ?? '';
}

/** Opens the tab Output of the open panel. */
export async function openOutput(page: Page): Promise<void> {
  await panelOf(page).getByRole('tab', { name: 'Output' }).click();
}

/** Creates a credential. Fields and options are given by their labels. */
export async function createCredential(
  page: Page,
  kind: string,
  name: string,
  fields: Record<string, string>,
): Promise<void> {
  await openPage(page, 'Credentials');
  await page.getByRole('button', { name: 'New credential' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'New credential' });
  await dialog.getByRole('button', { name: new RegExp(`^${kind}`) }).click();
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
  for (const [label, value] of Object.entries(fields)) await fillField(page, dialog, label, value);
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
}

async function fillField(page: Page, form: Locator, label: string, value: string): Promise<void> {
  const input = form.getByLabel(new RegExp(`^${label}( \\*)?$`, 'i')).first();
  if ((await input.getAttribute('aria-haspopup')) !== 'listbox') return input.fill(value);
  await input.click();
  await page.getByRole('option', { name: value, exact: true }).click();
}
