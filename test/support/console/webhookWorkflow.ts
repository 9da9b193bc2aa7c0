/** A small workflow for tests of the editor: a webhook, and a step `one` after it. */
import type { Page } from 'playwright-core';
import { workflows } from '../../../operator/shared/resources.ts';
import { show } from './chromium.ts';
import type { ConsoleSystem } from './consoleSystem.ts';
import { manifestOf } from './filledProject.ts';
import { canvasOpened } from './steps.ts';

const set = { id: 'one', skill: { name: 'set', parameters: { values: { n: '1' } } } };

/** Its manifest. */
export const webhookWorkflow = (name: string, active: boolean) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name },
  spec: { active, nodes: [{ id: 'trigger', webhook: { path: 'orders' } }, set] },
});

type Place = { system: ConsoleSystem; project: string };

/** Stores the workflow, and opens it in the editor. */
export async function openWebhookWorkflow(
  page: Page,
  { system, project }: Place,
  { name, active }: { name: string; active: boolean },
): Promise<void> {
  await system.apply(project, manifestOf([webhookWorkflow(name, active)]));
  await show(page, new URL(`/console/p/${project}/workflows/${name}`, system.consoleURL).href);
  await canvasOpened(page, 'one');
}

/** The IDs of the nodes of a workflow as it is published. */
export async function publishedNodes({ system, project }: Place, name: string): Promise<string[]> {
  const { spec } = await system.harness.client.get(workflows, { namespace: project, name });
  return spec.nodes.map(({ id }) => id);
}
