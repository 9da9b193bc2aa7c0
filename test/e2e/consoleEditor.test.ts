/** The editor: what cannot be drawn, when a schedule starts runs, and how a test run is ended. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addAfter,
  createWorkflow,
  nodeOf,
  openNode,
  publish,
  runEnded,
  testRun,
} from '../support/console/steps.ts';
import { member, signedIn } from './console.ts';
import { apply, createProject, exampleObjects, removeProject, workflowOf } from './environment.ts';

let project: string;
let token: string;

beforeAll(async () => {
  project = await createProject();
  token = await member(project, 'edith', 'edit');
});
afterAll(() => removeProject(project));

test('a connection that the API would refuse cannot be drawn', async () => {
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'one', skill: { name: 'set', parameters: { values: { n: '1' } } } },
    { id: 'two', skill: { name: 'set', parameters: { values: { n: '2' } } } },
  ];
  await apply(project, workflowOf('no-circle', nodes, { active: false }));
  const { page } = await signedIn(token, project, 'workflows/no-circle');
  await nodeOf(page, 'two').waitFor();
  const edges = page.locator('.react-flow__edge');
  await expect.poll(() => edges.count()).toBe(2);
  const source = page.locator('.react-flow__node[data-id="two"] .react-flow__handle.source').first();
  const target = page.locator('.react-flow__node[data-id="one"] .react-flow__handle.target').first();
  await source.dragTo(target, { force: true });
  expect(await edges.count()).toBe(2);
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
});

test('a schedule is described with its next times, before and after activation', async () => {
  const { page } = await signedIn(token, project);
  await createWorkflow(page, 'Every morning', /^Schedule/);
  const panel = await openNode(page, 'trigger');
  await panel.getByLabel(/^When/).fill('30 6 * * 1-5');
  await panel.getByText(/06:30/).first().waitFor();
  await panel.getByText(/Monday through Friday/).waitFor();
  expect(await panel.getByRole('list', { name: 'Next times' }).getByRole('listitem').count()).toBe(5);
  await addAfter(page, 'trigger', 'Set');
  await publish(page);
  await page.getByRole('switch', { name: 'Active' }).click();
  await page.getByText('Next runs').waitFor();
  expect(await page.getByRole('list', { name: 'Next times' }).last().getByRole('listitem').count()).toBe(5);
});

test('a long run is cancelled from the canvas', async () => {
  const nodes = [
    { id: 'trigger', manual: { testData: {} } },
    {
      id: 'write',
      agent: { credential: 'order-model', model: 'demo-paused', prompt: 'Confirm this order to Ada.' },
    },
  ];
  await apply(
    project,
    ...(await exampleObjects('order-confirmation', 'accounts.yaml')),
    workflowOf('long', nodes, { active: false }),
  );
  const { page } = await signedIn(token, project, 'workflows/long');
  await nodeOf(page, 'write').waitFor();
  await testRun(page);
  await page.getByRole('button', { name: 'Cancel run', exact: true }).click();
  await page.getByRole('button', { name: 'Cancel the run', exact: true }).click();
  expect(await runEnded(page)).toMatch(/^Cancelled/);
});
