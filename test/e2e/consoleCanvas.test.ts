/**
 * The canvas: what is drawn there, by the pointer and by the keys, is what the cluster gets; and what others
 * delete is not lost.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  drawEdge,
  insertBetween,
  edgeOf,
  edgesOn,
  panelFocused,
  tabToElement,
} from '../support/console/canvasSteps.ts';
import {
  addAfter,
  canvasOpened,
  codeField,
  draftSaved,
  nodeOf,
  panelOf,
  publish,
} from '../support/console/steps.ts';
import { focused } from '../support/console/keyboard.ts';
import { member, signedIn } from './console.ts';
import {
  apply,
  createProject,
  draftSpec,
  kube,
  namesAt,
  postWebhook,
  removeProject,
  workflowObject,
  workflowOf,
} from './environment.ts';

const POSITIONS = 'windlass.dev/positions';

let project: string;
let token: string;

beforeAll(async () => {
  project = await createProject();
  token = await member(project, 'edith', 'edit');
});
afterAll(() => removeProject(project));

const set = (id: string, n: string) => ({ id, skill: { name: 'set', parameters: { values: { n } } } });

test('nodes are copied, removed, restored, inserted, connected, tidied up and saved', async () => {
  const nodes = [{ id: 'trigger', manual: {} }, set('one', '1'), set('two', 'nodes.one.data_content.n + 1')];
  await apply(project, workflowOf('drawn', nodes, { active: false }));
  const { page } = await signedIn(token, project, 'workflows/drawn');
  const chain = ['one>two', 'trigger>one'];
  const withCopies = ['one>two', 'one_2>two_2', 'trigger>one'];
  await canvasOpened(page, 'two');

  for (const id of ['one', 'two']) await nodeOf(page, id).click({ modifiers: ['Shift'] });
  await page.keyboard.press('Control+c');
  await page.keyboard.press('Control+v');
  await expect.poll(() => edgesOn(page)).toEqual(withCopies);
  await page.keyboard.press('Delete');
  await expect.poll(() => edgesOn(page)).toEqual(chain);
  await page.keyboard.press('Control+z');
  await expect.poll(() => edgesOn(page)).toEqual(withCopies);
  await page.keyboard.press('Control+Shift+z');
  await expect.poll(() => edgesOn(page)).toEqual(chain);
  await page.keyboard.press('Control+z');
  await insertBetween(page, 'one', 'two', 'Set');
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await page.keyboard.press('Shift+T');
  await drawEdge(page, 'trigger', 'one_2');
  await edgeOf(page, 'trigger', 'one_2').waitFor();
  await page.keyboard.press('Shift+T');
  await publish(page);

  const drawn = await workflowObject(project, 'drawn');
  expect(drawn.spec['edges']).toEqual([
    { from: 'trigger', to: 'one' },
    { from: 'one', to: 'set' },
    { from: 'set', to: 'two' },
    { from: 'one_2', to: 'two_2' },
    { from: 'trigger', to: 'one_2' },
  ]);
  expect(drawn.spec['nodes']).toContainEqual(set('two_2', 'nodes.one_2.data_content.n + 1'));
  expect(drawn.metadata.annotations?.[POSITIONS]).toBeUndefined();
  await nodeOf(page, 'two_2').hover();
  const card = await nodeOf(page, 'two_2').boundingBox();
  await page.mouse.down();
  await page.mouse.move((card?.x ?? 0) + 60, (card?.y ?? 0) + 150, { steps: 5 });
  await page.mouse.up();
  // Positions change nothing that runs, so that there is nothing to confirm.
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  const moved = await workflowObject(project, 'drawn');
  expect(moved.spec).toEqual(drawn.spec);
  const positions = JSON.parse(moved.metadata.annotations?.[POSITIONS] ?? '{}') as object;
  expect(Object.keys(positions).toSorted()).toEqual(['one', 'one_2', 'set', 'trigger', 'two', 'two_2']);
});

test('a disabled step is skipped by live runs, and what follows it is executed', async () => {
  const hook = { id: 'trigger', webhook: { path: 'switched', auth: { none: {} } } };
  const reply = { id: 'reply', response: { body: { previous: '{{ $previous.data_content }}' } } };
  await apply(project, workflowOf('switched', [hook, set('one', '1'), reply], { active: true }));
  const { page } = await signedIn(token, project, 'workflows/switched');
  await canvasOpened(page, 'one');
  await nodeOf(page, 'one').click();
  await page.keyboard.press('Escape');
  await nodeOf(page, 'one').press('d');
  await publish(page);
  expect((await workflowObject(project, 'switched')).spec['nodes']).toContainEqual({
    ...set('one', '1'),
    disabled: true,
  });
  const answer = async () => (await postWebhook(project, 'switched', 'switched', { n: 7 })).text;
  await expect.poll(answer, { timeout: 60_000 }).toBe('{"previous":{"n":7}}');
});

test('a node is added, configured, connected, saved, reopened and removed with the keyboard only', async () => {
  const nodes = [{ id: 'trigger', manual: { testData: { name: 'Ada' } } }, set('one', '1')];
  await apply(project, workflowOf('typed', nodes, { active: false }));
  const { page } = await signedIn(token, project, 'workflows/typed');
  await canvasOpened(page, 'one');
  const { keyboard } = page;

  await keyboard.press('ArrowRight');
  await keyboard.press('Tab');
  await page.getByLabel('Search nodes').waitFor();
  await keyboard.type('http request');
  await page.getByRole('option', { name: /^HTTP request/ }).waitFor();
  await keyboard.press('Enter');
  await codeField(page, 'URL').waitFor();
  await expect.poll(() => focused(page), { timeout: 30_000 }).toBe('URL');
  await keyboard.type("https://example.com/{{ $('trigger').data_content.na");
  const option = page.getByRole('option', { name: /^name/ });
  await option.waitFor();
  // The editor ignores keys for a moment after the list opens.
  const accepted = async () => {
    await keyboard.press('Enter');
    return option.count();
  };
  await expect.poll(accepted, { interval: 100, timeout: 100_000 }).toBe(0);
  await keyboard.press('Escape');
  await keyboard.press('Enter');
  await panelFocused(page);
  await tabToElement(page, panelOf(page).getByRole('tab', { name: 'Parameters' }));
  await keyboard.press('End');
  await keyboard.press('Enter');
  await tabToElement(page, panelOf(page).getByRole('combobox', { name: 'Connect to…' }));
  await keyboard.press('ArrowDown');
  await page.getByRole('option', { name: 'one', exact: true }).waitFor();
  await keyboard.press('Enter');
  await edgeOf(page, 'http_request', 'one').waitFor();
  await keyboard.press('Control+s');
  await draftSaved(page);
  const drafted = await draftSpec(project, 'typed');
  expect(drafted['edges']).toContainEqual({ from: 'http_request', to: 'one' });
  expect(drafted['nodes']).toContainEqual({
    id: 'http_request',
    skill: {
      name: 'http_request',
      parameters: { url: "https://example.com/{{ $('trigger').data_content.name }}" },
    },
  });

  await keyboard.press('Escape');
  await panelOf(page).waitFor({ state: 'detached' });
  await keyboard.press('Delete');
  await nodeOf(page, 'http_request').waitFor({ state: 'detached' });
  await keyboard.press('Control+s');
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  expect((await workflowObject(project, 'typed')).spec['nodes']).toHaveLength(2);
  const drafts = `/apis/windlass.dev/v1alpha1/namespaces/${project}/workflowdrafts`;
  await expect.poll(() => namesAt(drafts), { timeout: 30_000 }).not.toContain('typed');
});

test('a deleted workflow stays in the editor and can be recreated with the changes', async () => {
  await apply(project, workflowOf('lost', [{ id: 'trigger', manual: {} }, set('one', '1')]));
  const { page } = await signedIn(token, project, 'workflows/lost');
  await addAfter(page, 'one', 'Response');
  await kube(['delete', 'workflow', 'lost', '-n', project]);
  await page.getByRole('alert').filter({ hasText: 'This workflow was deleted' }).waitFor();
  await page.getByRole('button', { name: 'Recreate as inactive' }).click();
  await page.getByRole('button', { name: 'Published', exact: true }).waitFor();
  const { spec } = await workflowObject(project, 'lost');
  expect(spec).toMatchObject({ active: false, nodes: [{ id: 'trigger' }, { id: 'one' }, { id: 'reply' }] });
});
