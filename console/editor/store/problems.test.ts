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
const nothing = {
  found: [],
  foundIn: undefined,
  references: [],
  referencesIn: undefined,
  credentials: undefined,
  unapplied: [],
  panel: undefined,
};
const known = { ...nothing, references, referencesIn: draft.spec };
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
      shownProblems({ ...nothing, found, foundIn: added.spec, panel }, workflow, added).nodes.get(
        'agent_1',
      ) ?? []
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

const MISSING = 'Credential gone does not exist in this project. Create it or choose another one.';
const withMail = (credential: string) => {
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'mail', skill: { name: 'send_email', credential } },
  ];
  return { ...workflow, spec: { ...workflow.spec, nodes } };
};

test.each<[string, ReadonlySet<string> | undefined, string[]]>([
  ['has no credential', new Set<string>(), [MISSING]],
  ['has another credential', new Set(['smtp']), [MISSING]],
  ['has the credential', new Set(['gone', 'smtp']), []],
  ['may have any', undefined, []],
])('a credential that a draft names is marked if the project %s', (_what, credentials, messages) => {
  const { nodes } = shownProblems({ ...nothing, credentials }, workflow, draftOf(withMail('gone')));
  expect((nodes.get('mail') ?? []).map(({ message }) => message)).toEqual(messages);
});

test('a credential that the operator misses, too, is listed once', () => {
  const message =
    'node mail: Credential gone does not exist in this namespace: apply it, or name another one';
  const conditions = [
    {
      type: 'CredentialsReady',
      status: 'False' as const,
      reason: 'CredentialMissing',
      message,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ];
  const published = { ...withMail('gone'), status: { conditions } } as WorkflowObject;
  const { nodes } = shownProblems(
    { ...nothing, credentials: new Set(['smtp']) },
    published,
    draftOf(published),
  );
  expect(nodes.get('mail')).toEqual([{ field: 'skill.credential', message: MISSING, source: 'credential' }]);
});

test.each<[string, string, number]>([
  ['the published version is wrong', 'mail', 0],
  ['others are wrong', 'other', 1],
])('a node that is disabled in the draft is not marked for what %s for', (_what, id, count) => {
  const message =
    'node mail: Credential gone does not exist in this namespace: apply it, or name another one';
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const conditions = [{ type: 'CredentialsReady', status: 'False' as const, message, lastTransitionTime }];
  const published = { ...withMail('gone'), status: { conditions } } as WorkflowObject;
  const saved = draftOf(published);
  const nodes = saved.spec.nodes.map((node) => (node.id === id ? { ...node, disabled: true } : node));
  const { nodes: marked } = shownProblems(nothing, published, { ...saved, spec: { ...saved.spec, nodes } });
  expect(marked.get('mail') ?? []).toHaveLength(count);
});

test('a credential that the user may not use is told by the API server alone', () => {
  const { spec } = draftOf(withMail('gone'));
  const refusal = 'workflows "a" is forbidden: lacks the right to use credentials/gone in namespace shop';
  const found = draftProblems([{ field: '', message: refusal }], spec);
  const { nodes } = shownProblems(
    { ...nothing, found, foundIn: spec, credentials: new Set(['smtp']) },
    workflow,
    draftOf(withMail('gone')),
  );
  expect(nodes.get('mail')).toMatchObject([{ field: 'skill.credential', source: 'draft' }]);
});
