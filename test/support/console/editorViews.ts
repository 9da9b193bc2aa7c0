/** Workflows that show what the editor draws: notes, conditions, disabled steps and pinned outputs. */
import { ANNOTATION } from '../../../api/group.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { workflows } from '../../../operator/shared/resources.ts';
import type { ConsoleSystem } from './consoleSystem.ts';
import { manifestOf, object } from './filledProject.ts';

/** Their names. */
export const DESK = {
  notes: 'desk-notes',
  conditions: 'desk-conditions',
  pins: 'desk-pins',
  broken: 'desk-broken',
  versions: 'desk-versions',
} as const;

const set = (id: string, more: object = {}) => ({
  id,
  skill: { name: 'set', parameters: { values: { done: 'true' } } },
  ...more,
});
const total = 'nodes.trigger.data_content.total';
const state = 'nodes.trigger.data_content.state';
const testData = {
  text_content: '',
  data_content: { total: 120, state: 'paid', tags: ['new'], customer: { email: 'ada@example.com' } },
};

const NOTES = {
  a: {
    x: -20,
    y: -220,
    width: 260,
    height: 170,
    color: 'yellow',
    text: '# Before you change this\nAsk **Ada**. The shop sends `orders` at *night*.\n\n- one\n- two',
  },
  b: {
    x: 280,
    y: -220,
    width: 260,
    height: 170,
    color: 'blue',
    text: '> A quote\n\n| state | means |\n| --- | --- |\n| paid | ship it |\n| open | wait |',
  },
  c: {
    x: 580,
    y: -220,
    width: 260,
    height: 170,
    color: 'green',
    text: '## Later\n[Docs](https://example.com/a) and a word that is long: Donaudampfschifffahrtsgesellschaft',
  },
  d: { x: 880, y: -220, width: 260, height: 170, color: 'pink', text: '' },
};

/** Adds the workflows and their drafts. */
export async function addDesk(system: ConsoleSystem, project: string): Promise<void> {
  await system.apply(
    project,
    manifestOf([
      object(
        'Workflow',
        DESK.notes,
        {
          displayName: 'Order desk',
          nodes: [{ id: 'trigger', manual: { testData: testData.data_content } }, set('check'), set('store')],
        },
        {
          annotations: { 'windlass.dev/notes': JSON.stringify(NOTES) },
          labels: { team: 'orders', 'app.example.com/region': 'a-rather-long-name-of-a-region' },
        },
      ),
      object('Workflow', DESK.conditions, {
        displayName: 'Sort orders',
        nodes: [
          { id: 'trigger', webhook: { path: 'desk', testData } },
          set('large', { displayName: 'Large and paid' }),
          set('odd'),
          set('rest', { displayName: 'All the others' }),
          set('remind', { disabled: true }),
          set('last'),
        ],
        edges: [
          { from: 'trigger', to: 'large', when: `${total} >= 100.0 && ${state} == "paid"` },
          { from: 'trigger', to: 'odd', when: `${state} == "odd" ? true : false` },
          {
            from: 'trigger',
            to: 'rest',
            when: `!(${total} >= 100.0 && ${state} == "paid") && !(${state} == "odd" ? true : false)`,
          },
          { from: 'large', to: 'remind' },
          { from: 'remind', to: 'last' },
        ],
      }),
      versioned([set('check')]),
      object('Workflow', DESK.broken, {
        displayName: 'Unfinished orders',
        nodes: [{ id: 'trigger', manual: {} }, set('check')],
      }),
      object('Workflow', DESK.pins, {
        displayName: 'Pinned orders',
        nodes: [
          { id: 'trigger', manual: { testData: testData.data_content } },
          {
            id: 'make',
            skill: {
              name: 'http_request',
              parameters: { method: 'GET', url: 'https://api.example.com/orders' },
            },
          },
          set('check'),
        ],
      }),
    ]),
  );
  const pins = {
    trigger: testData,
    make: { text_content: '', data_content: { status: 200, json: { orders: [{ number: 'A-1001' }] } } },
  };
  await addDraft(system, { project, name: DESK.pins, isPinsOnly: true }, (body) => ({ ...body, pins }));
  await addDraft(system, { project, name: DESK.broken }, ({ spec, ...body }) => ({
    ...body,
    spec: { ...spec, nodes: [...spec.nodes, { id: 'mail', skill: { name: 'send_email', parameters: {} } }] },
  }));
  // Its second version.
  await system.harness.waitFor(project, DESK.versions, { type: 'Valid', status: 'True' }, 90_000);
  await system.apply(project, manifestOf([versioned([set('check'), set('store')])]));
}

const versioned = (steps: object[]) =>
  object('Workflow', DESK.versions, {
    displayName: 'Orders with versions',
    nodes: [{ id: 'trigger', manual: {} }, ...steps],
  });

type Body = { spec: Omit<WorkflowSpec, 'active'>; positions: object };

/** Stores a draft of the workflow, which changes what is published. */
async function addDraft(
  system: ConsoleSystem,
  { project, name, isPinsOnly = false }: { project: string; name: string; isPinsOnly?: boolean },
  change: (body: Body) => object,
): Promise<void> {
  const { metadata, spec } = await system.harness.client.get(workflows, { namespace: project, name });
  const { active: _active, ...edited } = spec;
  const body = { spec: edited, positions: {} };
  const base = { uid: metadata.uid, body: JSON.stringify(body) };
  const marks = isPinsOnly ? { annotations: { [ANNOTATION.pinsOnly]: 'true' } } : {};
  const draft = object('WorkflowDraft', name, { base, body: JSON.stringify(change(body)) }, marks);
  await system.apply(project, manifestOf([draft]));
}
