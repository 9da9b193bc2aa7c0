/** Creates workflows: the initial spec for each trigger, and templates adapted to the project. */
import { ANNOTATION } from '../../api/group.ts';
import type { WebhookTrigger } from '../../api/trigger.ts';
import type { TriggerKind } from '../../api/triggerKinds.ts';
import { NOT_CHOSEN } from '../credentials/kindLabels.ts';
import { kindsOfCredentials } from './triggers.ts';
import type { WorkflowNode, WorkflowSpec } from '../../api/workflow.ts';
import { isRecord } from '../../api/record.ts';
import { failureFrom } from '../http/failure.ts';
import { createObject, deleteObject, getObject } from '../kube/objects.ts';
import {
  DRAFTS,
  WORKFLOWS,
  type DraftObject,
  type ObjectMeta,
  type WorkflowObject,
} from '../kube/resources.ts';
import { isTrigger } from './kinds.ts';
import type { Need } from './template.ts';

/** A credential of the project. */
export type KnownCredential = { name: string; kind: string };

export type NewWorkflow = {
  name: string;
  spec: WorkflowSpec;
  marks?: Pick<ObjectMeta, 'labels' | 'annotations'>;
};

/**
 * Throws an ApiFailure: AlreadyExists if the name is taken, Invalid with a cause per wrong field. `by`: whom
 * the versions name as the author of the first one; undefined if the user is not known.
 */
export function createWorkflow(
  namespace: string,
  { name, spec, marks }: NewWorkflow,
  by: string | undefined,
): Promise<WorkflowObject> {
  const annotations = { ...marks?.annotations, ...firstPublicationMarks(by) };
  return createObject(WORKFLOWS, namespace, { metadata: { name, ...marks, annotations }, spec });
}

/** The annotations of a workflow that this user creates; none if the user is not known. */
export function firstPublicationMarks(by: string | undefined): Record<string, string> {
  return by === undefined ? {} : { [ANNOTATION.publishedBy]: by, [ANNOTATION.publishedGeneration]: '1' };
}

/**
 * Creates the workflow with its trigger alone, and all of it as its draft: nothing is published that nobody
 * has read. Throws an ApiFailure as createWorkflow does. If the draft cannot be created, the workflow is
 * deleted again; if that fails too, it stays.
 */
export async function createWithDraft(
  namespace: string,
  { spec, ...created }: NewWorkflow,
  by: string | undefined,
): Promise<WorkflowObject> {
  const begun = withTriggerAlone(spec);
  const workflow = await createWorkflow(namespace, { ...created, spec: begun }, by);
  const { name, uid = '' } = workflow.metadata;
  const draft = { base: { uid, body: bodyOf(begun) }, body: bodyOf(spec) };
  try {
    await createDraft(namespace, name, draft);
  } catch (error) {
    await deleteObject(WORKFLOWS, namespace, name, { uid }).catch(() => undefined);
    throw error;
  }
  return workflow;
}

/** Creates the draft, in place of one that a deleted workflow of this name has left. */
async function createDraft(namespace: string, name: string, spec: DraftObject['spec']): Promise<void> {
  const create = () => createObject(DRAFTS, namespace, { metadata: { name }, spec });
  try {
    await create();
  } catch (error) {
    if (failureFrom(error).status !== 409) throw error;
    const { metadata, spec: left } = await getObject<DraftObject>(DRAFTS, namespace, name);
    if (left.base.uid === spec.base.uid || metadata.uid === undefined) throw error;
    await deleteObject(DRAFTS, namespace, name, { uid: metadata.uid });
    await create();
  }
}

/** The inactive workflow that has only the trigger. It has no response for which a caller could wait. */
function withTriggerAlone({ displayName, nodes }: WorkflowSpec): WorkflowSpec {
  const trigger = nodes.find(isTrigger);
  const { replyTimeout: _ofTheResponse, ...webhook } = trigger?.webhook ?? {};
  const begun = trigger?.webhook ? { ...trigger, webhook: webhook as WebhookTrigger } : trigger;
  return { ...(displayName !== undefined && { displayName }), active: false, nodes: begun ? [begun] : [] };
}

/** Switches are no part of a draft, and the editor finds places for its nodes. */
function bodyOf({ active: _active, suspend: _suspend, ...spec }: WorkflowSpec): string {
  return JSON.stringify({ spec });
}

export type Beginning = {
  name: string;
  displayName: string;
  trigger: TriggerKind;
  credentials: KnownCredential[];
  /** The IANA time zone of a schedule. */
  timeZone: string;
  /** The URL or ID of a spreadsheet. */
  spreadsheetId?: string;
};

/** An inactive workflow that only has its trigger. */
export function startingSpec({ displayName, ...beginning }: Beginning): WorkflowSpec {
  return {
    ...(displayName !== '' && { displayName }),
    active: false,
    nodes: [{ id: 'trigger', ...triggerOf(beginning) }],
  };
}

function triggerOf({
  trigger,
  name,
  credentials,
  timeZone,
  spreadsheetId = '',
}: Omit<Beginning, 'displayName'>): Omit<WorkflowNode, 'id'> {
  const credential = credentialFor(kindsOfCredentials(trigger), credentials) ?? NOT_CHOSEN;
  switch (trigger) {
    case 'manual':
      return { manual: {} };
    case 'schedule':
      return { schedule: { cron: '0 9 * * 1-5', timeZone } };
    case 'webhook':
      return { webhook: { path: name } };
    case 'mail':
      return { mail: { credential } };
    case 'spreadsheet':
      return { spreadsheet: { credential, spreadsheetId } };
    case 'fileStorage':
      return { fileStorage: { credential } };
    case 'bot':
      return { bot: { credential } };
    case 'chat':
      return { chat: NEW_CHAT };
  }
}

/** Nobody may send messages until the Secret exists. */
export const NEW_CHAT = { access: 'Token' as const, tokenRefs: [{ name: 'chat-token', key: 'token' }] };

/** The first fitting credential; earlier kinds are preferred. */
export function credentialFor(kinds: readonly string[], credentials: KnownCredential[]): string | undefined {
  const fitting = kinds.flatMap((kind) => credentials.filter((known) => known.kind === kind));
  return fitting[0]?.name;
}

/** Whether the project has a credential that fits. */
export function isMet(need: Need, credentials: readonly KnownCredential[]): boolean {
  return credentials.some(({ kind }) => need.kinds.includes(kind));
}

/** For each need the credential of the project that it finds: of the same name, or else of a fitting kind. */
export function foundCredentials(
  needs: readonly Need[],
  credentials: KnownCredential[],
): Map<string, string> {
  return new Map(
    needs.flatMap((need) => {
      const same = credentials.find(({ name, kind }) => name === need.name && need.kinds.includes(kind));
      const found = same?.name ?? credentialFor(need.kinds, credentials);
      return found === undefined ? [] : [[need.name, found] as const];
    }),
  );
}

/**
 * The template's spec with these credentials in place of its own. Those that are not chosen keep their name.
 */
export function withCredentials(spec: WorkflowSpec, chosen: ReadonlyMap<string, string>): WorkflowSpec {
  const nodes = spec.nodes.map((node) =>
    Object.fromEntries(Object.entries(node).map(([key, value]) => [key, renamed(value, chosen)])),
  );
  return { ...spec, nodes: nodes as WorkflowNode[] };
}

/** A kind of node with its credential, and those of its tools and its fallback. */
function renamed(value: unknown, chosen: ReadonlyMap<string, string>): unknown {
  if (!isRecord(value)) return value;
  const lists = ['tools', 'fallback'].flatMap((member) => {
    const list = value[member];
    return Array.isArray(list) ? [[member, list.map((each: unknown) => renamed(each, chosen))] as const] : [];
  });
  const { credential } = value;
  return {
    ...value,
    ...(typeof credential === 'string' && { credential: chosen.get(credential) ?? credential }),
    ...Object.fromEntries(lists),
  };
}
