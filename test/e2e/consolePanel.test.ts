/**
 * The panel of a node and the YAML say the same of a workflow and lose nothing; expressions know what there
 * is to refer to.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  acceptOption,
  canvasOpened,
  codeField,
  dragInto,
  nodeOf,
  openNode,
  panelOf,
  publish,
  runEnded,
  testRun,
  view,
  writeExpression,
  writeYaml,
  yamlOn,
} from '../support/console/steps.ts';
import { event, greet, GREETING, http } from '../support/data/greetingWorkflow.ts';
import { member, signedIn } from './console.ts';
import { apply, createProject, removeProject, workflowObject, workflowOf } from './environment.ts';

let project: string;
let token: string;

beforeAll(async () => {
  project = await createProject();
  token = await member(project, 'edith', 'edit');
});
afterAll(() => removeProject(project));

test('YAML and forms stay equal; API errors appear at their node, and invalid YAML is kept', async () => {
  const nodes = [{ id: 'trigger', manual: {} }, http('ask', 'https://example.com/')];
  await apply(project, workflowOf('text', nodes, { active: false }));
  const { page } = await signedIn(token, project, 'workflows/text');
  await canvasOpened(page, 'ask');

  await view(page, 'YAML');
  const text = await yamlOn(page);
  const refused = text.replace(
    '- id: ask',
    '- id: ask\n      displayName: Ask them\n      effect: Sometimes',
  );
  await writeYaml(page, refused);
  await view(page, 'Canvas');
  await nodeOf(page, 'ask').getByText('Ask them').waitFor();
  await nodeOf(page, 'ask')
    .getByText('Unsupported value: "Sometimes": supported values: "AtLeastOnce", "AtMostOnce"')
    .waitFor({ state: 'attached' });

  await view(page, 'YAML');
  await writeYaml(page, 'spec: [');
  await page.getByText('This YAML is invalid').waitFor();
  await view(page, 'Canvas');
  await page.getByRole('button', { name: 'Go to YAML' }).click();
  expect(await yamlOn(page)).toBe('spec: [');
  await view(page, 'Canvas');
  await page.getByRole('button', { name: 'Discard the YAML changes' }).click();

  await openNode(page, 'ask');
  await panelOf(page).getByRole('tab', { name: 'Parameters' }).click();
  await codeField(page, 'URL').waitFor();
  await writeExpression(page, 'URL', 'https://example.com/form');
  await view(page, 'YAML');
  const changed = await yamlOn(page);
  expect(changed).toBe(refused.replace('https://example.com/', 'https://example.com/form'));
  await writeYaml(page, changed.replace('      effect: Sometimes\n', ''));
  await publish(page);
  expect((await workflowObject(project, 'text')).spec['nodes']).toEqual([
    { id: 'trigger', manual: {} },
    { ...http('ask', 'https://example.com/form'), displayName: 'Ask them' },
  ]);
});

test('expressions are completed with outputs, previewed, and accept dropped values', async () => {
  const nodes = [{ id: 'trigger', manual: {} }, greet, http('ask', 'https://example.com/')];
  await apply(project, workflowOf('hello', nodes, { active: false }));
  const { page } = await signedIn(token, project, 'workflows/hello');
  await canvasOpened(page, 'ask');
  await testRun(page, event('Ada'), 'greet');
  expect(await runEnded(page)).toMatch(/^Succeeded/);

  const panel = await openNode(page, 'ask');
  await codeField(page, 'URL').waitFor();
  await writeExpression(page, 'URL', 'https://example.com/');
  for (const [typed, option] of [
    ['{{', "$('greet')"],
    ['', 'data_content'],
    ['.', 'greeting'],
  ] as const) {
    await page.keyboard.type(typed);
    await acceptOption(page, option);
  }
  expect(await codeField(page, 'URL').textContent()).toBe(`https://example.com/${GREETING}`);
  await panel.getByText('https://example.com/Hello Ada').waitFor();

  await writeExpression(page, 'URL', '');
  await dragInto(page, 'greeting', 'URL');
  await expect.poll(() => codeField(page, 'URL').textContent()).toBe(GREETING);
  await panel.getByRole('tab', { name: 'Connections' }).click();
  await panel.getByRole('button', { name: /^greet/ }).click();
  const line = page.getByRole('complementary', { name: 'Connection' });
  await line.getByText('CEL', { exact: true }).click();
  await line.locator('[contenteditable="true"][aria-label="Only if"]').click();
  await page.keyboard.type('nodes.greet.data_content.gre');
  await acceptOption(page, 'greeting');
  await page.keyboard.type(' == "Hello Bob"');
  await line.getByText('false', { exact: true }).waitFor();
  await publish(page);
  const { spec } = await workflowObject(project, 'hello');
  expect(spec['nodes']).toContainEqual(http('ask', GREETING));
  const when = 'nodes.greet.data_content.greeting == "Hello Bob"';
  expect(spec['edges']).toContainEqual({ from: 'greet', to: 'ask', when });
});
