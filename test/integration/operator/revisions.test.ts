/** The revisions of a workflow, and runs of older ones. */
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ANNOTATION, LABEL } from '../../../api/group.ts';
import type { Revision } from '../../../api/revision.ts';
import {
  hasPublication,
  keptPublicationMarks,
  messageOfVersion,
  publicationMarks,
  specOfVersion,
} from '../../../api/version.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { controllerRevisions } from '../../../kube/resource.ts';
import { workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { isOfDraft } from '../../../operator/shared/revisions.ts';
import { namedRevision } from '../../../operator/workflow/revision.ts';
import { HELLO, helloRuns, READY, SOON, WITHIN } from '../../support/operator/helloRuns.ts';
import type { OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { setUpProject } from '../../support/operator/setUpProject.ts';
import { unfinishedRuns } from '../../support/runStore/unfinishedRuns.ts';
import { pollUntil } from '../../support/time/poll.ts';

let harness: OperatorHarness;
let namespace: string;
let uid: string;

setUpProject((project) => void ({ harness, namespace, uid } = project));
const { applyWorkflow, create, submitted, ended } = helloRuns(() => ({ harness, namespace, uid }));

test('a run of an older revision executes that one, and one of a revision that does not exist fails', async () => {
  await applyWorkflow();
  const first = (await harness.waitFor(namespace, 'hello', READY)).status?.revision ?? '';
  await applyWorkflow({ timeout: '5m' });
  await create('older', { revision: first });
  expect((await submitted('older')).revision).toBe(first);
  await create('unknown', { revision: 'hello-0' });
  expect(await ended('unknown')).toMatchObject({ phase: 'Failed', reason: 'RevisionMissing' });
});

test('a revision that was never activated is executed by test runs alone, also after another one was', async () => {
  await applyWorkflow({ active: false });
  const never = (await harness.waitFor(namespace, 'hello', READY)).status?.revision ?? '';
  await applyWorkflow({ timeout: '5m' });
  await create('real', { revision: never });
  expect(await ended('real')).toMatchObject({ phase: 'Failed', reason: 'RevisionNotActivated' });
  await create('test', { revision: never, test: true });
  expect((await submitted('test')).revision).toBe(never);
  await applyWorkflow();
  await applyWorkflow({ timeout: '5m' });
  await create('real-again', { revision: never });
  expect((await submitted('real-again')).revision).toBe(never);
});

const start = { id: 'trigger', manual: { testData: { from: 'test data' } } };
const drafted = (values: object) => ({
  nodes: [start, { id: 'set', skill: { name: 'set', parameters: { values } } }],
});

test('a test run of a draft executes it and publishes nothing, and no live run executes it before that', async () => {
  await applyWorkflow();
  const published = (await harness.waitFor(namespace, 'hello', READY)).status?.revision ?? '';
  // Go escapes these characters, and the API server refuses another text of what must not change.
  const draft = drafted({ count: "1 < 2 && 'a>b' != 'b'" });
  await create('draft', { test: true, draft });
  const { revision, test: isTest } = await submitted('draft');
  expect(isTest).toBe(true);
  expect(revision).not.toBe(published);
  const { spec } = await harness.client.get(workflowRuns, { namespace, name: 'draft' });
  expect(spec).toEqual({ workflow: 'hello', test: true, revision });
  expect((await harness.waitFor(namespace, 'hello', READY)).status?.revision).toBe(published);
  await create('live', { revision });
  expect(await ended('live')).toMatchObject({ phase: 'Failed', reason: 'RevisionNotActivated' });
  await applyWorkflow(draft);
  expect((await harness.waitFor(namespace, 'hello', READY)).status?.revision).toBe(revision);
  await create('live-again', { revision });
  expect((await submitted('live-again')).revision).toBe(revision);
});

test('a draft that the operator finds invalid fails, and its message says where', async () => {
  await applyWorkflow();
  await create('draft', { test: true, draft: drafted({ count: "{{ $('nobody').text_content }}" }) });
  expect(await ended('draft')).toMatchObject({
    phase: 'Failed',
    reason: 'DraftInvalid',
    message: expect.stringMatching(/^The draft is not valid: .*node set/),
  });
});

test('of a draft with a last node, what is after that is neither checked nor executed', async () => {
  await applyWorkflow();
  const { nodes } = drafted({ count: '1' });
  const later = {
    id: 'later',
    skill: { name: 'set', parameters: { values: { n: 'nodes.nobody.text_content' } } },
  };
  await create('part', { test: true, until: 'set', draft: { nodes: [...nodes, later] } });
  const { revision } = await submitted('part');
  const { data } = await harness.client.get(controllerRevisions, { namespace, name: revision });
  expect((data as Revision).steps.map(({ id }) => id)).toEqual(['set']);
  await create('whole', { test: true, until: 'later', draft: { nodes: [...nodes, later] } });
  expect(await ended('whole')).toMatchObject({ phase: 'Failed', reason: 'DraftInvalid' });
});

test('of the revisions of drafts the newest five stay', async () => {
  const workflow = await applyWorkflow();
  for (let n = 1; n <= 7; n += 1) {
    await create(`draft-${n}`, { test: true, draft: drafted({ count: String(n) }) });
    await submitted(`draft-${n}`);
    await harness.client.delete(workflowRuns, { namespace, name: `draft-${n}` });
  }
  await expect.poll(() => unfinishedRuns(harness.conn, uid, workflow), WITHIN).toEqual([]);
  await create('again', { test: true, draft: drafted({ count: '7' }) });
  await submitted('again');
  const { items } = await harness.client.listAll(controllerRevisions, { namespace });
  expect(items.filter(isOfDraft)).toHaveLength(5);
});

test('a revision says who published it, until somebody changes the spec in another way', async () => {
  await applyWorkflow();
  const published = drafted({ count: '1' });
  const { metadata } = await harness.client.get(workflows, { namespace, name: 'hello' });
  const annotations = publicationMarks({ by: 'ada', message: 'count' }, (metadata.generation ?? 0) + 1);
  const change = (patch: object) =>
    harness.client.patch(workflows, { namespace, name: 'hello' }, patch, { type: 'merge' });
  await change({ metadata: { annotations }, spec: published });
  const current = async () => {
    const { status } = await harness.waitFor(namespace, 'hello', READY);
    return (await harness.client.get(controllerRevisions, { namespace, name: status?.revision ?? '' }))
      .metadata;
  };
  const first = await current();
  expect(hasPublication(first, { by: 'ada', message: 'count' })).toBe(true);
  expect(specOfVersion(first)).toEqual(published);
  await change({ spec: drafted({ count: '2' }) });
  const second = await current();
  expect(second.name).not.toBe(first.name);
  expect(second.annotations?.[ANNOTATION.publishedBy]).toBeUndefined();
});

test('a version that is published again is the last one, and keeps its message if the new one is empty', async () => {
  await applyWorkflow();
  const at = { namespace, name: 'hello' };
  const change = async (patch: object) => {
    await harness.client.patch(workflows, at, patch, { type: 'merge' });
    const { status } = await harness.waitFor(namespace, 'hello', READY);
    return harness.client.get(controllerRevisions, { namespace, name: status?.revision ?? '' });
  };
  const publish = async (count: string, publication: { by: string; message?: string }) => {
    const { metadata } = await harness.client.get(workflows, at);
    const annotations = publicationMarks(publication, (metadata.generation ?? 0) + 1);
    return change({ metadata: { annotations }, spec: drafted({ count }) });
  };
  const first = await publish('1', { by: 'ada', message: 'First version' });
  for (const by of ['bob', 'bob']) {
    const other = await publish('2', { by });
    const again = await publish('1', { by });
    expect(again.metadata.name).toBe(first.metadata.name);
    expect(again.revision).toBeGreaterThan(other.revision);
    expect(hasPublication(again.metadata, { by })).toBe(true);
    expect(messageOfVersion(again.metadata)).toBe('First version');
    // What is no new version writes nothing.
    const { metadata } = await harness.client.get(workflows, at);
    const annotations = keptPublicationMarks(metadata);
    const renamed = await change({
      metadata: { annotations },
      spec: { displayName: `Hello ${other.revision}` },
    });
    expect(renamed.metadata.resourceVersion).toBe(again.metadata.resourceVersion);
  }
});

test('a version with a number that the workflow has not reached does not make the operator note others again', async () => {
  await applyWorkflow();
  const at = { namespace, name: 'hello' };
  const publish = async (count: string) => {
    const { metadata } = await harness.client.get(workflows, at);
    const annotations = publicationMarks({ by: 'ada' }, (metadata.generation ?? 0) + 1);
    await harness.client.patch(
      workflows,
      at,
      { metadata: { annotations }, spec: drafted({ count }) },
      { type: 'merge' },
    );
    return (await harness.waitFor(namespace, 'hello', READY)).status?.revision ?? '';
  };
  const one = await publish('1');
  await harness.client.patch(
    controllerRevisions,
    { namespace, name: one },
    { revision: 1_000_000 },
    { type: 'merge' },
  );
  const other = await publish('2');
  const versionOf = async () =>
    (await harness.client.get(controllerRevisions, { namespace, name: other })).metadata.resourceVersion;
  const before = await versionOf();
  // The operator has reconciled the workflow once more when this is its status.
  const metadata = { annotations: keptPublicationMarks((await harness.client.get(workflows, at)).metadata) };
  await harness.client.patch(
    workflows,
    at,
    { metadata, spec: { displayName: 'Hello again' } },
    { type: 'merge' },
  );
  await harness.waitFor(namespace, 'hello', READY);
  expect(await versionOf()).toBe(before);
});

test('a ControllerRevision that somebody made under the name of a revision is replaced', async () => {
  const nodes = [{ id: 'trigger', manual: {} }];
  const { name, revision } = namedRevision({ ...HELLO, spec: { active: true, nodes } });
  const data = { ...revision, planted: true };
  const labels = { [LABEL.workflow]: 'hello' };
  const metadata = { namespace, name, labels };
  await harness.client.create(controllerRevisions, { metadata, revision: 1, data });
  await applyWorkflow({ nodes });
  await create('one');
  expect((await submitted('one')).revision).toBe(name);
  expect((await harness.client.get(controllerRevisions, { namespace, name })).data).toEqual(revision);
});

test.each([
  ['a finalizer', { labels: { [LABEL.workflow]: 'hello' }, finalizers: ['example.com/hold'] }],
  ['no label of ours, which the admission policy keeps', {}],
])(
  'a ControllerRevision of the name of a revision with %s is named in the condition, until it is gone',
  async (_what, fields) => {
    const object = { ...HELLO, spec: { active: true, nodes: [{ id: 'trigger', manual: {} }] } };
    const { name, revision } = namedRevision(object);
    const metadata = { namespace, name, ...fields };
    await harness.client.create(controllerRevisions, { metadata, revision: 1, data: revision });
    await harness.apply(namespace, stringify(object));
    const expected = { type: 'Routed', status: 'False', reason: 'RevisionNameTaken' } as const;
    const { status } = await harness.waitFor(namespace, 'hello', expected);
    expect(findCondition(status?.conditions, 'Stalled')?.message).toContain(`ControllerRevision ${name} `);
    const ref = { namespace, name };
    await harness.client.patch(
      controllerRevisions,
      ref,
      { metadata: { finalizers: null } },
      { type: 'merge' },
    );
    await harness.client.delete(controllerRevisions, ref);
    // Reconciled again when the workflow changes, or soon.
    await applyWorkflow({ timeout: '6m' });
    await applyWorkflow(object.spec);
  },
);

test('of revisions the newest ten stay, and the one that is in effect', async () => {
  for (let minutes = 1; minutes <= 13; minutes += 1) await applyWorkflow({ timeout: `${minutes}m` });
  const { status } = await harness.waitFor(namespace, 'hello', READY);
  const kept = () => harness.client.listAll(controllerRevisions, { namespace });
  await pollUntil('ten revisions', async () => (await kept()).items.length <= 11, SOON);
  expect((await kept()).items.map(({ metadata }) => metadata.name)).toContain(status?.revision);
});
