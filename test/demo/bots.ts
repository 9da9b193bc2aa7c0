/** The example of a bot: somebody writes to it, and it answers. */
import { writeToBot, writtenByBots } from '../support/installation/demoTelegram.ts';
import { pollUntil } from '../support/time/poll.ts';
import { runNames, showRun, type Demo } from './runs.ts';

const RUN_MS = 30_000;
const ANSWER_MS = 10_000;

/** Writes to the bot; shows the run that this starts, and what the bot wrote. */
export async function showBotAnswer(demo: Demo): Promise<void> {
  const { cluster, tell } = demo;
  const [before, sent] = [await runNames(demo, 'bot-answer'), await writtenByBots(cluster)];
  const text = 'Where is my lamp?';
  tell();
  tell(`Ada writes to the bot: ${text}`);
  const status = await writeToBot(cluster, { text });
  tell(`the gateway answers Telegram: HTTP ${status}`);
  if (status !== 200) throw new Error('the message should have been taken with 200');
  await showRun(demo, 'bot-answer', { before, timeoutMs: RUN_MS });
  const answer = async () => (await writtenByBots(cluster))[sent.length];
  const written = await pollUntil('an answer of the bot', answer, { timeoutMs: ANSWER_MS });
  tell();
  tell(`the bot writes into the chat ${written.chatId}:`);
  for (const line of written.text.split('\n')) tell(`  ${line}`.trimEnd());
}
