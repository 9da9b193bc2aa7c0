/** A client of the chat of an installed Windlass: sends a message, and reads the stream of its answer. */
import { randomUUID } from 'node:crypto';
import { getJson, type ClusterAccess } from '../cluster/kubectl.ts';
import type { Gateway } from './installedGateway.ts';

type Installed = { cluster: ClusterAccess; gateway: Gateway; project: string };

/** The URL of the page of a chat, as it is reached from this machine. */
export async function chatURL({ cluster, gateway, project }: Installed, workflow: string): Promise<string> {
  type Served = { status: { url: string } };
  const { status } = await getJson<Served>(cluster, 'workflows.windlass.dev', workflow, '-n', project);
  return `${gateway.publicURL}${new URL(status.url).pathname}`;
}

export type ChatEvent = { event: string; data: { text?: string; detail?: string } };

/**
 * The events of the answer to a message, as they come. `url`: that of the chat's page.
 * @throws Error if the message is refused
 */
export async function* chatEvents(url: string, session: string, message: string): AsyncGenerator<ChatEvent> {
  const response = await fetch(`${url}/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'windlass-chat-session': session,
    },
    body: JSON.stringify({ message, id: randomUUID() }),
  });
  if (!response.ok || !response.body)
    throw new Error(`${url}/messages answered ${response.status}: ${await response.text()}`);
  let rest = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + piece).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event, data] = /^event: (.+)\ndata: (.+)$/.exec(block) ?? [];
      if (event && data) yield { event, data: JSON.parse(data) as ChatEvent['data'] };
    }
  }
}
