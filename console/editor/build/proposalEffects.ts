/**
 * What the user should notice in a proposal before accepting it: where data goes, and what guards are gone.
 * Pure.
 */
import { isRecord } from '../../../api/record.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { isEqual } from '../../kube/patch.ts';
import { choiceLabel } from '../../forms/labels.ts';
import { identifiedName, isTrigger, kindLabel, nodeKind } from '../../workflows/kinds.ts';

/** Each effect as a sentence, without duplicates, the most serious first. */
export function proposalEffects(before: WorkflowSpec, after: WorkflowSpec): string[] {
  return [
    ...namesAdded(before, after, hostsIn).map((host) => `Data goes to a new host: ${host}.`),
    ...nodesWithNew(before, after, computedURLs).map(
      (node) => `${identifiedName(node)} calls a URL that an expression computes.`,
    ),
    ...namesAdded(before, after, addressesIn).map((address) => `A new email address is used: ${address}.`),
    ...nodesWithNew(before, after, computedRecipients).map(
      (node) => `${identifiedName(node)} sends to a recipient that an expression computes.`,
    ),
    ...namesAdded(before, after, credentialsIn).map((name) => `The credential ${name} is used.`),
    ...triggerEffects(before, after),
    ...nodeEffects(before, after),
    ...settingEffects(before, after),
  ];
}

function namesAdded(
  before: WorkflowSpec,
  after: WorkflowSpec,
  namesIn: (spec: WorkflowSpec) => string[],
): string[] {
  const known = new Set(namesIn(before));
  return [...new Set(namesIn(after))].filter((name) => !known.has(name));
}

/** All strings of a value, with the name of the member that holds each. */
function stringsIn(value: unknown, name = ''): { name: string; text: string }[] {
  if (typeof value === 'string') return [{ name, text: value }];
  if (Array.isArray(value)) return value.flatMap((each: unknown) => stringsIn(each, name));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([member, each]) => stringsIn(each, member));
}

// A match begins at the beginning of a word, so that a long text takes linear time.
// Browsers and servers read https:a.example and https:\\a.example like https://a.example.
const HOST = /(?<![a-z0-9])(?:https?:[/\\]*|[a-z][a-z0-9]*:\/\/)(?:[^\s/?#"'`@{}]*@)?([^\s/?#"'`{}\\]+)/gi;

function hostsIn({ nodes }: WorkflowSpec): string[] {
  return stringsIn(nodes).flatMap(({ text }) =>
    [...text.matchAll(HOST)].map(([, host = '']) => host.toLowerCase()),
  );
}

const ADDRESS = /(?<![^\s<>"',;:(){}])[^\s<>"',;:(){}]+@[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)+/gu;

function addressesIn({ nodes }: WorkflowSpec): string[] {
  return stringsIn(nodes).flatMap(({ text }) =>
    [...text.replaceAll(HOST, '').matchAll(ADDRESS)].map(([address]) => address.toLowerCase()),
  );
}

function credentialsIn({ nodes }: WorkflowSpec): string[] {
  return stringsIn(nodes).flatMap(({ name, text }) => (name === 'credential' ? [text] : []));
}

/** The nodes with such a text that they did not have before. */
function nodesWithNew(
  before: WorkflowSpec,
  after: WorkflowSpec,
  textsIn: (node: WorkflowNode) => string[],
): WorkflowNode[] {
  const known = new Map(before.nodes.map((node) => [node.id, textsIn(node)]));
  return after.nodes.filter((node) =>
    textsIn(node).some((text) => known.get(node.id)?.includes(text) !== true),
  );
}

/** The URLs whose scheme or host is an expression. */
function computedURLs(node: WorkflowNode): string[] {
  const isComputed = (url: string) => /^[^/]*(?:\/\/[^/]*)?\{\{/.test(url);
  return stringsIn(node).flatMap(({ name, text }) => (name === 'url' && isComputed(text) ? [text] : []));
}

/** The parameters of skills that say who gets something. `mail` of `reply_email` names its sender. */
const RECIPIENTS = ['to', 'cc', 'bcc', 'replyTo', 'chatId', 'mail'];

/** The recipients of the step, and of the tools of an agent, that are an expression. */
function computedRecipients({ skill, agent }: WorkflowNode): string[] {
  const all = [skill?.parameters, ...(agent?.tools ?? []).map(({ parameters }) => parameters)];
  return all
    .flatMap((given) => (isRecord(given) ? RECIPIENTS.flatMap((name) => stringsIn(given[name])) : []))
    .flatMap(({ text }) => (text.includes('{{') ? [text] : []));
}

function triggerEffects(before: WorkflowSpec, after: WorkflowSpec): string[] {
  const [was, is] = [before.nodes.find(isTrigger), after.nodes.find(isTrigger)];
  if (was === undefined || is === undefined) return [];
  const [kind, next] = [nodeKind(was), nodeKind(is)];
  return [
    ...(kind === next
      ? []
      : [`The trigger changes from ${triggerKindLabel(kind)} to ${triggerKindLabel(next)}.`]),
    ...webhookEffects(was.webhook, is.webhook),
    ...(is.chat === undefined || was.chat?.access === is.chat.access
      ? []
      : [`The access to the chat is ${is.chat.access}.`]),
  ];
}

const triggerKindLabel = (kind: ReturnType<typeof nodeKind>): string =>
  kind === undefined ? 'none' : kindLabel(kind);

function webhookEffects(was: WorkflowNode['webhook'], is: WorkflowNode['webhook']): string[] {
  if (is === undefined || (was !== undefined && isEqual(was.auth, is.auth))) return [];
  if (is.auth === undefined || 'none' in is.auth) return ['Anybody who knows the URL can call the webhook.'];
  return was === undefined ? [] : ['Who may call the webhook changes.'];
}

function nodeEffects(before: WorkflowSpec, after: WorkflowSpec): string[] {
  const next = new Map(after.nodes.map((node) => [node.id, node]));
  const known = new Map(before.nodes.map((node) => [node.id, node]));
  return [
    ...before.nodes.flatMap((node) => {
      const replaced = next.get(node.id);
      return replaced === undefined ? removedEffects(node) : changedEffects(node, replaced);
    }),
    ...after.nodes
      .filter(({ id, code }) => code !== undefined && !isEqual(known.get(id)?.code, code))
      .map((node) => `${identifiedName(node)} executes code that you should read.`),
  ];
}

function removedEffects(node: WorkflowNode): string[] {
  const isGuard = node.wait !== undefined;
  return [
    `The node ${identifiedName(node)} is removed${isGuard ? ': the run no longer waits there, as for an approval' : ''}.`,
  ];
}

function disabledEffects(node: WorkflowNode): string[] {
  const { wait, group } = node;
  const more = wait ? ': the run no longer waits there, as for an approval' : group ? ', with its body' : '';
  return [`The node ${identifiedName(node)} is disabled${more}.`];
}

function changedEffects(was: WorkflowNode, is: WorkflowNode): string[] {
  const name = identifiedName(was);
  if (was.disabled !== true && is.disabled === true) return disabledEffects(was);
  const effect = (node: WorkflowNode) =>
    node.effect === undefined ? 'the default of the node' : choiceLabel(node.effect);
  const tools = (node: WorkflowNode) =>
    new Map((node.agent?.tools ?? []).map((tool) => [toolName(tool), tool]));
  const [had, has] = [tools(was), tools(is)];
  return [
    ...(was.disabled === true && is.disabled !== true ? [`The node ${name} is executed again.`] : []),
    ...(was.wait !== undefined && !isEqual(was.wait, is.wait) ? [`What ${name} waits for changes.`] : []),
    ...(was.effect === is.effect ? [] : [`The effect of ${name} is ${effect(is)}; it was ${effect(was)}.`]),
    ...(was.sensitive === true && is.sensitive !== true ? [`The output of ${name} is recorded.`] : []),
    ...[...had.keys()].filter((tool) => !has.has(tool)).map((tool) => `${name} loses the tool ${tool}.`),
    ...[...has].flatMap(([called, tool]) => toolEffects(name, called, { had: had.get(called), tool })),
  ];
}

type Tool = NonNullable<NonNullable<WorkflowNode['agent']>['tools']>[number];

function toolName(tool: Tool): string {
  return tool.name ?? tool.skill ?? tool.workflow ?? '';
}

function toolEffects(
  node: string,
  name: string,
  { had, tool }: { had: Tool | undefined; tool: Tool },
): string[] {
  if (had === undefined) return [`The model of ${node} can call the tool ${name}.`];
  return [
    ...(had.effect === tool.effect ? [] : [`The effect of the tool ${name} of ${node} changes.`]),
    ...(isEqual(had.modelMaySet, tool.modelMaySet)
      ? []
      : [`What the model of ${node} may set for the tool ${name} changes.`]),
  ];
}

function settingEffects(before: WorkflowSpec, after: WorkflowSpec): string[] {
  const differs = (name: keyof WorkflowSpec) => !isEqual(before[name], after[name]);
  return [
    ...(differs('budget') ? ['The budget of the workflow changes.'] : []),
    ...(differs('recordData') ? [`Runs record ${after.recordData ?? 'All'} data.`] : []),
    ...(differs('onFailure') ? ['The error workflow changes.'] : []),
  ];
}
