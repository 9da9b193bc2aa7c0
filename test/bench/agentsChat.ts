/**
 * How late the text of a model reaches a viewer of a chat: from the moment in which the model's server sent a
 * piece until the client of the gateway has read it. Pieces come each 10 ms.
 */
import { request } from 'node:http';
import { newSession, putChat } from '../support/gateway/chatHarness.ts';
import type { GatewayHarness } from '../support/gateway/gatewayHarness.ts';
import { PIECE_EVERY_MS, sharedClock, type Script } from './agentsServer.ts';
import type { Figure } from './report.ts';

const MESSAGES = 40;
const WARM = 5;
const PIECES = 30;
const FIRST_MS = 30;
/** As long as text is joined. */
const JOINED_MS = 50;

/** An event of text: when it was read, and when its pieces were sent. */
type Shown = { readAt: number; sentAt: number[] };

const AGENT = { credential: 'llm', model: 'm', prompt: "{{ $('trigger').text_content }}" };

/** `tools`: those of the agent that calls one before it answers. */
export async function streamedText(harness: GatewayHarness, tools: object[]): Promise<Figure[]> {
  const plain = await putChat(harness, 'plain', {}, [{ id: 'answer', agent: AGENT }]);
  const withTool = await putChat(harness, 'tool', {}, [{ id: 'answer', agent: { ...AGENT, tools } }]);
  return [
    ...figures('', await answers(plain, { pieces: PIECES })),
    ...figures(' after a tool call', await answers(withTool, { tool: 'note', answers: 1, pieces: PIECES })),
  ];
}

async function answers(page: string, script: Script): Promise<Shown[][]> {
  const all: Shown[][] = [];
  for (let count = 0; count < WARM + MESSAGES; count += 1) all.push(await send(page, JSON.stringify(script)));
  return all.slice(WARM);
}

/** Sends one message of a new session, and reads its answer to the end. */
function send(page: string, message: string): Promise<Shown[]> {
  const shown: Shown[] = [];
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'windlass-chat-session': newSession() };
    const call = request(`${page}/messages`, { method: 'POST', headers }, (answer) => {
      let text = '';
      let isDone = false;
      answer.setEncoding('utf8').on('data', (part: string) => {
        const readAt = sharedClock();
        const blocks = (text + part).split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) {
          isDone ||= block.startsWith('event: done\n');
          const [, said = ''] = /^event: (?:text|reset)\ndata: .*"text":"([^"]*)"/.exec(block) ?? [];
          if (said !== '') shown.push({ readAt, sentAt: said.trim().split(' ').map(Number) });
        }
      });
      answer.once('error', reject).once('end', () => {
        // The whole answer stands for text that is still on its way when the answer is known.
        if (isDone && shown.length > 1) resolve(shown);
        else reject(new Error(`status ${answer.statusCode}, ${shown.length} events of text`));
      });
    });
    call.once('error', reject);
    call.end(JSON.stringify({ message, id: 'm' }));
  });
}

function figures(when: string, all: readonly Shown[][]): Figure[] {
  const first = all.map(([event]) => lateness(event));
  const later = all.flatMap((events) => events.slice(1));
  const spans = later.map(({ sentAt }) => (sentAt.at(-1) ?? Number.NaN) - (sentAt[0] ?? Number.NaN));
  const name = `chat: first text${when}, model to viewer`;
  return [
    { name: `${name}, p50`, value: percentile(first, 0.5), unit: 'ms' },
    {
      name: `${name}, p95`,
      value: percentile(first, 0.95),
      unit: 'ms',
      goal: { at: 'most', value: FIRST_MS, of: 'value' },
    },
    {
      name: `chat: later text${when}, first to last piece of an event, p50`,
      value: percentile(spans, 0.5),
      unit: 'ms',
      goal: { at: 'most', value: JOINED_MS + PIECE_EVERY_MS, of: 'value' },
    },
    {
      name: `chat: later text${when}, first piece of an event to viewer, p50`,
      value: percentile(later.map(lateness), 0.5),
      unit: 'ms',
    },
  ];
}

/** From the first piece of the event. */
function lateness(event: Shown | undefined): number {
  return event ? event.readAt - (event.sentAt[0] ?? Number.NaN) : Number.NaN;
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;
}
