/** Which problems the editor shows. */
import { expect, test } from 'vitest';
import type { WorkflowObject } from '../../kube/resources.ts';
import { draftOf } from '../model/annotation.ts';
import { draftProblems, type Found } from '../model/problems.ts';
import { withText } from '../model/unapplied.ts';
import { shownProblems } from './problems.ts';

const workflow = {
  metadata: { name: 'a', namespace: 'shop' },
  spec: {
    active: false,
    nodes: [
      { id: 'trigger', manual: {} },
      { id: 'mail', skill: { name: 'send_email' } },
    ],
  },
} as WorkflowObject;
const draft = draftOf(workflow);

const at = (source: 'reference' | 'incomplete', field: string): Found => ({
  place: { node: 'mail' },
  problem: { field, message: `about ${field}`, source },
});
const references = [at('incomplete', 'skill.parameters.to'), at('reference', 'skill.parameters.subject')];
const known = { found: [], foundIn: undefined, references, referencesIn: draft.spec, unapplied: [] };
const fieldsWith = (panel: { node: string; isNew?: true } | undefined) =>
  (shownProblems({ ...known, panel }, workflow, draft).nodes.get('mail') ?? []).map(({ field }) => field);

test('a node that was just added is marked for what it lacks once its panel is left', () => {
  expect(fieldsWith({ node: 'mail', isNew: true })).toEqual(['skill.parameters.subject']);
  expect(fieldsWith(undefined)).toEqual(['skill.parameters.to', 'skill.parameters.subject']);
  expect(fieldsWith({ node: 'trigger', isNew: true })).toEqual([
    'skill.parameters.to',
    'skill.parameters.subject',
  ]);
  expect(fieldsWith({ node: 'mail' })).toEqual(['skill.parameters.to', 'skill.parameters.subject']);
});

test('what the API server says of empty values of a node that was just added is left out meanwhile, too', () => {
  const agent = { id: 'agent_1', agent: { credential: 'ai', model: '', prompt: 'Hi', maxSteps: 0 } };
  const added = { ...draft, spec: { ...draft.spec, nodes: [...draft.spec.nodes, agent] } };
  const at = 'spec.nodes[2].agent';
  const found = draftProblems(
    [
      {
        field: `${at}.model`,
        message: `Invalid value: "": ${at}.model in body should be at least 1 chars long`,
      },
      { field: `${at}.outputSchema`, message: 'Required value' },
      { field: `${at}.maxSteps`, message: 'Invalid value: 0: must be at least 1' },
    ],
    added.spec,
  );
  const shownWith = (panel: { node: string; isNew?: true }) =>
    (
      shownProblems(
        { found, foundIn: added.spec, references: [], referencesIn: undefined, unapplied: [], panel },
        workflow,
        added,
      ).nodes.get('agent_1') ?? []
    ).map(({ field }) => field);
  expect(shownWith({ node: 'agent_1', isNew: true })).toEqual(['agent.maxSteps']);
  expect(shownWith({ node: 'agent_1' })).toEqual(['agent.model', 'agent.outputSchema', 'agent.maxSteps']);
});

test('a text that a field cannot apply is a problem of its node, in place of what is missing there', () => {
  const field = 'skill.parameters.to';
  const typed = { text: '{', message: 'Invalid JSON.' };
  const unapplied = withText([], { node: 'mail', field, spec: draft.spec }, typed);
  // Also of a node that was just added: its other fields may be empty meanwhile.
  for (const panel of [undefined, { node: 'mail', isNew: true as const }])
    expect(shownProblems({ ...known, unapplied, panel }, workflow, draft).nodes.get('mail')).toMatchObject([
      { field, message: 'Invalid JSON.', source: 'draft' },
      { field: 'skill.parameters.subject' },
    ]);
});
