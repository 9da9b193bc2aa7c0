/** The example of a bot: somebody writes to it, and it answers. */
import { demoNamespace } from '../support/install.ts';
import { kubectl, type ClusterAccess } from '../support/kubectl.ts';
import { pollUntil } from '../support/poll.ts';
import { runNames, showRun, type Stage } from './runs.ts';

const RUN_MS = 30_000;
const ANSWER_MS = 10_000;
const messages = `/api/v1/namespaces/${demoNamespace}/services/telegram:http/proxy/messages`;

type Sent = { chatId: number | string; text: string };

/** Writes to the bot; shows the run that this starts, and what the bot wrote. */
export async function showBotAnswer(stage: Stage): Promise<void> {
  const { cluster, tell } = stage;
  const [before, sent] = [await runNames(cluster, 'bot-answer'), await sentBy(cluster)];
  const text = 'Where is my lamp?';
  tell();
  tell(`Ada writes to the bot: ${text}`);
  const answer = await kubectl(cluster, ['create', '--raw', messages, '-f', '-'], {
    input: JSON.stringify({ text }),
  });
  const { status } = JSON.parse(answer) as { status: number | null };
  tell(`the gateway answers Telegram: HTTP ${status}`);
  if (status !== 200) throw new Error('the message should have been taken with 200');
  await showRun(stage, 'bot-answer', { before, timeoutMs: RUN_MS });
  const written = await pollUntil('an answer of the bot', async () => (await sentBy(cluster))[sent.length], {
    timeoutMs: ANSWER_MS,
  });
  tell();
  tell(`the bot writes into the chat ${written.chatId}:`);
  for (const line of written.text.split('\n')) tell(`  ${line}`.trimEnd());
}

async function sentBy(cluster: ClusterAccess): Promise<Sent[]> {
  return JSON.parse(await kubectl(cluster, ['get', '--raw', messages])) as Sent[];
}
