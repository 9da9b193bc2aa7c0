/**
 * Test runs: with which data they begin, how far they go, and what is seen of each node while and after it
 * ran.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  askToRunTo,
  canvasOpened,
  nodeOf,
  openOutput,
  panelOf,
  publish,
  runEnded,
  writeTestData,
} from '../support/console/steps.ts';
import { event, greet, GREETING, http } from '../support/data/greetingWorkflow.ts';
import { copied, member, signedIn } from './console.ts';
import {
  apply,
  condition,
  createProject,
  postWebhook,
  removeProject,
  workflowObject,
  workflowOf,
} from './environment.ts';

const WARNING = 'Test runs have real effects';

let project: string;
let token: string;

beforeAll(async () => {
  project = await createProject();
  token = await member(project, 'edith', 'edit');
});
afterAll(() => removeProject(project));

test('a test run stops at a node, its data is saved, and its output is shown in all formats', async () => {
  const nodes = [{ id: 'trigger', manual: {} }, greet, http('ask', 'https://example.com/')];
  await apply(project, workflowOf('greeting', nodes, { active: false }));
  const { page } = await signedIn(token, project, 'workflows/greeting');
  await canvasOpened(page, 'greet');
  await askToRunTo(page, 'greet');
  const dialog = page.getByRole('dialog', { name: 'Test run up to greet' });
  await dialog.getByText(WARNING).waitFor();
  await writeTestData(page, event('Ada'));
  await dialog.getByRole('checkbox', { name: 'Save as test data of the workflow' }).check();
  await dialog.getByRole('button', { name: 'Run to here' }).click();
  expect(await runEnded(page)).toMatch(/^Succeeded up to greet/);
  await nodeOf(page, 'greet')
    .getByText(/\d m?s/)
    .waitFor();
  // The test run executes nothing after the node.
  expect(await nodeOf(page, 'ask').getByText('Skipped', { exact: true }).count()).toBe(0);
  // They are kept in the draft, which the run executed.
  expect((await workflowObject(project, 'greeting')).spec['nodes']).toContainEqual(nodes[0]);
  await publish(page);
  const { spec } = await workflowObject(project, 'greeting');
  expect(spec['nodes']).toContainEqual({ id: 'trigger', manual: { testData: event('Ada') } });

  const panel = panelOf(page);
  const shape = (name: string) =>
    panel.getByRole('radiogroup', { name: 'Output format' }).getByText(name, { exact: true }).click();
  await shape('Text');
  await panel.getByRole('region', { name: 'Text of greet' }).getByText('Set greeting, lamps.').waitFor();
  await shape('JSON');
  await panel.getByLabel('Output of greet as JSON').getByText('"Hello Ada"').waitFor();
  await shape('Table');
  await panel.getByRole('cell', { name: 'green' }).waitFor();
  await shape('Tree');
  await panel.getByRole('treeitem', { name: /^greeting: Hello Ada/ }).hover();
  await panel.getByRole('button', { name: 'Copy greeting as expression' }).click();
  await expect.poll(() => copied(page)).toBe(GREETING);

  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Test data' }).getByText('"Ada"').waitFor();
  expect(await page.getByRole('dialog').getByText(WARNING).count()).toBe(0);
});

test('the last real event is used in a test run; the failed node shows its error, and later nodes are skipped', async () => {
  const nodes = [
    { id: 'trigger', webhook: { path: 'in' } },
    {
      id: 'read',
      skill: { name: 'set', parameters: { values: { n: 'nodes.trigger.data_content.missing' } } },
    },
    http('ask', 'https://example.com/'),
  ];
  const displayName = 'What becomes of an order that lacks what is needed to send it';
  await apply(project, workflowOf('failing', nodes, { displayName }));
  await condition(project, 'workflows.windlass.dev/failing', 'Ready', { status: 'True' });
  expect((await postWebhook(project, 'failing', 'in', { name: 'Real Ada' })).status).toBe(200);
  const { page } = await signedIn(token, project, 'workflows/failing');
  await canvasOpened(page, 'ask');
  await page.getByRole('button', { name: 'Test run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Test run' });
  const data = dialog.getByRole('textbox', { name: 'Test data' });
  await data.waitFor();
  // A run is listed a moment after its event was taken.
  await expect
    .poll(
      async () => {
        await dialog.getByRole('button', { name: 'Use last real event' }).click();
        return data.textContent();
      },
      { timeout: 100_000, interval: 1_000 },
    )
    .toContain('Real Ada');
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  expect(await runEnded(page)).toMatch(/^Failed at read: .*missing/);
  // The bar above the canvas stays one line.
  expect((await page.locator('main header').boundingBox())?.height).toBeLessThan(60);
  await nodeOf(page, 'read').getByText(', failed').waitFor({ state: 'attached' });
  await nodeOf(page, 'ask').getByText('Skipped', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Show node' }).click();
  await openOutput(page);
  await panelOf(page).getByRole('alert').filter({ hasText: 'missing' }).waitFor();
});
