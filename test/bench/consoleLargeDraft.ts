/** A draft that is larger than a workflow can be, since people can draw one. */
import { drafts, workflows } from '../../operator/shared/resources.ts';
import { manifestOf } from '../support/console/filledProject.ts';
import { PROJECT, type Harness } from './consoleScenes.ts';

export const NODES = 200;
export const CONNECTIONS = 300;
export const LARGE_DRAFT = { workflow: 'largest', node: 'step_100', isDraft: true };

/** Creates a small workflow with the draft. */
export async function addLargeDraft({ system }: Pick<Harness, 'system'>): Promise<void> {
  const name = LARGE_DRAFT.workflow;
  const published = { nodes: [{ id: 'trigger', manual: {} }] };
  const workflow = {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Workflow',
    metadata: { name },
    spec: published,
  };
  await system.apply(PROJECT, manifestOf([workflow]));
  const { metadata } = await system.harness.client.get(workflows, { namespace: PROJECT, name });
  const body = (spec: object) => JSON.stringify({ spec, positions: {} });
  await system.harness.client.create(drafts, {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WorkflowDraft',
    metadata: { namespace: PROJECT, name },
    spec: { base: { uid: metadata.uid ?? '', body: body(published) }, body: body(largeSpec()) },
  });
}

/** A tree in rows, with further connections from row to row. */
function largeSpec(): object {
  const id = (at: number) => (at === 0 ? 'trigger' : `step_${at}`);
  const nodes = Array.from({ length: NODES }, (_, at) =>
    at === 0
      ? { id: id(at), manual: {} }
      : { id: id(at), skill: { name: 'set', parameters: { values: { n: String(at) } } } },
  );
  const tree = nodes.slice(1).map((_, at) => ({ from: id(Math.floor(at / 2)), to: id(at + 1) }));
  const more = Array.from({ length: CONNECTIONS - tree.length }, (_, at) => ({
    from: id(Math.floor(at / 2) + 1),
    to: id(at + 60),
  }));
  return { nodes, edges: [...tree, ...more] };
}
