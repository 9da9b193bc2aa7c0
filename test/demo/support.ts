/** The example of a chat: a customer asks for her order, and then for a refund. */
import { newSessionToken } from '../../api/chat.ts';
import { kubectl } from '../support/cluster/kubectl.ts';
import { chatEvents, chatURL, type ChatEvent } from '../support/installation/chatClient.ts';
import { addRow, rowsOf } from '../support/installation/demoGoogle.ts';
import { pollUntil } from '../support/time/poll.ts';
import { showMail } from './mails.ts';
import { runsOf, type Demo } from './runs.ts';

const WORKFLOW = 'support-agent';
const ORDERS = 'shop-orders';
/** It names no order: the agent remembers it. */
const REQUEST = 'It came broken. Please refund it. I ordered with ada@example.com.';
const RECORD_MS = 10_000;

/**
 * Writes two messages in one session; shows the answers as they are streamed, the tool calls and the usage of
 * each run, the child run of the refund, and the mail.
 */
export async function showSupport(demo: Demo): Promise<void> {
  const { cluster, project, tell } = demo;
  const url = await chatURL(demo, WORKFLOW);
  const number = `A-${1_000 + (await rowsOf(cluster, ORDERS)).length}`;
  await addRow(cluster, ORDERS, [number, 'Desk lamp', 39, 'shipped', 'P-2001', 'ada@example.com']);
  const session = newSessionToken();
  await converse(demo, url, session, `Where is my order ${number}?`);
  const run = await converse(demo, url, session, REQUEST);
  await showMail(cluster, tell, ({ subject }) => subject === `Refund of your order ${number}`);
  tell();
  tell('the tool refund is a workflow: its call was a child run of the second message');
  const children = ['get', 'workflowruns', '-n', project, '-l', `windlass.dev/parent=${run}`];
  tell((await kubectl(cluster, children)).trimEnd());
  tell();
  tell('Chat with it in your browser:');
  tell();
  tell(`  ${url}`);
}

/** Sends a message and shows its answer; the name of its run. */
async function converse(demo: Demo, url: string, session: string, message: string): Promise<string> {
  const { tell } = demo;
  const before = await runsOf(demo, WORKFLOW);
  tell();
  tell(`Ada: ${message}`);
  await showStream(chatEvents(url, session, message));
  tell();
  const known = new Set(before.map(({ metadata }) => metadata.name));
  return showUsage(demo, known);
}

/** Writes the text as it comes, and at the end what the stream has not brought of the whole answer. */
async function showStream(events: AsyncIterable<ChatEvent>): Promise<void> {
  const write = (text: string) => process.stdout.write(text.replaceAll('\n', '\n  │ '));
  let shown = '';
  process.stdout.write('  │ ');
  for await (const { event, data } of events) {
    const { text = '', detail } = data;
    if (event === 'error') throw new Error(`the message should have been answered: ${detail}`);
    if (event === 'text') {
      write(text);
      shown += text;
      continue;
    }
    write(text.startsWith(shown) ? text.slice(shown.length) : `\n${text}`);
    shown = text;
  }
}

/** Tells which tools the run of the message called, and what it used; its name. */
async function showUsage(demo: Demo, known: ReadonlySet<string>): Promise<string> {
  const { metadata, status } = await pollUntil(
    'the record of the message',
    async () =>
      (await runsOf(demo, WORKFLOW)).find(
        (run) => !known.has(run.metadata.name) && run.status?.completionTime,
      ),
    { timeoutMs: RECORD_MS, everyMs: 250 },
  );
  const entries = status?.nodes?.flatMap(({ transcript }) => transcript?.entries ?? []) ?? [];
  const tools = entries.flatMap(({ tool, arguments: given }) => (tool ? [`${tool} ${given ?? ''}`] : []));
  demo.tell(
    `run ${metadata.name}: ${status?.phase} after ${status?.duration}, ${status?.usage?.tokens} tokens`,
  );
  for (const tool of tools) demo.tell(`  called ${tool}`);
  return metadata.name;
}
