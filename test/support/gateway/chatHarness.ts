/**
 * A gateway that serves chats, with the run store, a model whose answers tests send, and clients of the chat.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { chatId } from '../../../api/chat.ts';
import { revisionOf } from '../../../api/revision.ts';
import type { RouteSpec } from '../../../api/route.ts';
import { encodeKeys, entryName, WEBHOOKS } from '../../../api/webhookAuth.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { webhookRoutes } from '../../../gateway/routing/follow.ts';
import { secrets } from '../../../kube/resource.ts';
import { chatOf } from '../../../operator/chat/route.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { putRevision } from '../../../runs/revisions.ts';
import { startPausedModel, type PausedModel } from '../providers/model/pausedModel.ts';
import type { CredentialTable } from '../runner/runnerProject.ts';
import { pollUntil } from '../time/poll.ts';
import {
  NAMESPACE,
  PROJECT,
  startGatewayHarness,
  workflowUid,
  type GatewayHarness,
  type GatewayHarnessOptions,
} from './gatewayHarness.ts';

/** The token of chats with access Token. */
export const TOKEN = 'let-me-in';
const MATERIAL = '0123456789abcdef';

export type ChatHarness = GatewayHarness & {
  model: PausedModel;
  credentials: CredentialTable;
  /** Serves the chat of a workflow as the operator would, and gives the URL of its page. */
  putChat(workflow: string, chat?: object, steps?: object[]): Promise<string>;
};

export const AGENT = {
  id: 'answer',
  agent: { credential: 'llm', model: 'paused', prompt: "{{ $('trigger').text_content }}" },
};

export async function startChatHarness(options: GatewayHarnessOptions = {}): Promise<ChatHarness> {
  const [harness, model] = await Promise.all([startGatewayHarness(options), startPausedModel()]);
  const openai = { baseURL: model.baseURL, apiKeyRef: { name: 's', key: 'apiKey' } };
  return {
    ...harness,
    model,
    credentials: { llm: { spec: { openai } } },
    putChat: (workflow, chat, steps) => putChat(harness, workflow, chat, steps),
    close: async () => {
      await harness.close();
      await model.close();
    },
  };
}

/** Serves the chat of a workflow as the operator would, and gives the URL of its page. */
export async function putChat(
  { client, runs, gateway }: GatewayHarness,
  workflow: string,
  chat: object = {},
  steps: object[] = [AGENT],
): Promise<string> {
  const trigger = { id: 'trigger', chat: { access: 'Public', ...chat } };
  const spec = { active: true, nodes: [trigger, ...steps] } as unknown as WorkflowSpec;
  const uid = workflowUid(workflow);
  const revision = `${workflow}-${randomUUID().slice(0, 8)}`;
  await putRevision(runs, PROJECT, revision, revisionOf(spec));
  await setWorkflowLimits(runs, PROJECT, { workflowUid: uid, policy: 'Queue', deadlineMs: 3_600_000 });
  await client.apply(webhookRoutes, {
    metadata: { namespace: NAMESPACE, name: workflow },
    spec: {
      workflow,
      workflowUID: uid,
      projectUID: PROJECT,
      revision,
      trigger: 'chat',
      active: true,
      ...withMaterial(chatOf(spec, uid)),
    },
  });
  const entry = Buffer.from(encodeKeys([Buffer.from(TOKEN)])).toString('base64');
  await client.apply(secrets, {
    metadata: { namespace: NAMESPACE, name: WEBHOOKS },
    data: { [entryName(uid, MATERIAL)]: entry },
  });
  const url = `${gateway.publicURL}/chat/${chatId(uid)}`;
  await pollUntil('the chat', async () => (await fetch(url)).status === 200, {
    timeoutMs: 10_000,
    everyMs: 20,
  });
  return url;
}

function withMaterial({ chat }: Pick<RouteSpec, 'chat'>): Pick<RouteSpec, 'chat'> {
  if (!chat) return {};
  const { verify } = chat;
  return { chat: { ...chat, ...(verify && { verify: { ...verify, material: MATERIAL } }) } };
}

export type SentMessage = {
  message?: unknown;
  id?: unknown;
  session?: string;
  token?: string;
  accept?: string;
  /** The whole body. */
  body?: string;
  signal?: AbortSignal;
};

export const newSession = (): string => randomBytes(32).toString('base64url');

/** Sends a message. */
export function sendMessage(
  url: string,
  { message = 'Hello', id = randomUUID(), session, token, accept, body, signal }: SentMessage = {},
): Promise<Response> {
  return fetch(`${url}/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(session !== undefined && { 'windlass-chat-session': session }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(accept !== undefined && { accept }),
    },
    body: body ?? JSON.stringify({ message, id }),
    ...(signal && { signal }),
  });
}

/** An event of a stream, with its data. */
export type StreamedEvent = { event: string; data: Record<string, unknown> };

/** The events of an answer, as they come. */
export async function* streamedEvents(response: Response): AsyncGenerator<StreamedEvent, void, undefined> {
  let text = '';
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (text + piece).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event = '', data = '{}'] = /^event: (.+)\ndata: (.+)$/.exec(block) ?? [];
      if (event !== '') yield { event, data: JSON.parse(data) as Record<string, unknown> };
    }
  }
}

/** All further events. */
export async function restOf(events: AsyncIterable<StreamedEvent>): Promise<StreamedEvent[]> {
  const rest: StreamedEvent[] = [];
  for await (const event of events) rest.push(event);
  return rest;
}

/** All events of an answer. */
export async function wholeStream(response: Response): Promise<StreamedEvent[]> {
  return restOf(streamedEvents(response));
}
