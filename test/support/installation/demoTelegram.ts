/**
 * The bots of the demo's Telegram, through the API server, so that it works on every cluster: what people
 * write to them, and what they write.
 */
import { demoNamespace } from './install.ts';
import { kubectl, readPath, type ClusterAccess } from '../cluster/kubectl.ts';

const service = `/api/v1/namespaces/${demoNamespace}/services/telegram`;
const messages = `${service}:http/proxy/messages`;

type Message = {
  text: string;
  /** The number of another bot than that of the example. */
  bot?: number;
  /** With a number that it had before, Telegram sends the message again. */
  update?: number;
};

/** Ada writes to a bot. The status that its webhook answered with; null where it has none. */
export async function writeToBot(cluster: ClusterAccess, message: Message): Promise<number | null> {
  const options = { input: JSON.stringify(message) };
  const answer = await kubectl(cluster, ['create', '--raw', messages, '-f', '-'], options);
  return (JSON.parse(answer) as { status: number | null }).status;
}

type Sent = { chatId: number | string; text: string };

/** What bots have written so far, oldest first. */
export async function writtenByBots(cluster: ClusterAccess): Promise<Sent[]> {
  return readPath(cluster, messages);
}

/** Where the updates of the bot with that token are sent; empty: nowhere. */
export async function webhookAt(cluster: ClusterAccess, token: string): Promise<string> {
  type Info = { result: { url: string } };
  const info = await readPath<Info>(cluster, `${service}:api/proxy/bot${token}/getWebhookInfo`);
  return info.result.url;
}
