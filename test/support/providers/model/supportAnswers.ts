/**
 * What the model of tests and the demo does as the agent of `examples/support-agent`: it follows rules, knows
 * what the messages and results that it is sent say, and nothing else.
 */
import type { ModelRequest, ToolCall } from './modelRequest.ts';

type Answer = { text: string; calls: ToolCall[] };
type Order = { Number: string; Item: string; Price: number; Status: string; Parcel?: string };
/** What the tools give: a refund, rows, the answer about a parcel. */
type Result = {
  refunded?: string;
  problem?: string;
  rows?: { values: Order }[];
  body?: { place: string; arrives: string };
};

const ASK_NUMBER = 'I am happy to help. What is the **number of your order**? It begins with A-.';
const ASK_EMAIL = 'I can do that. With which **mail address** did you order?';

const say = (text: string): Answer => ({ text, calls: [] });
const call = (name: string, given: object): Answer => ({
  text: '',
  calls: [{ name, arguments: JSON.stringify(given) }],
});

/** Undefined for the requests of other agents. */
export function supportAnswer({ messages, tools = [] }: ModelRequest): Answer | undefined {
  const names = tools.map((tool) => tool.function.name);
  if (!['find_order', 'track_parcel', 'refund'].every((name) => names.includes(name))) return undefined;
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content ?? '');
  const results = messages.slice(at).flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : []));
  const order = lastMatch(said, /\bA-\d+\b/);
  if (order === undefined) return say(ASK_NUMBER);
  const wantsRefund = /refund|money back/i.test(said.at(-1) ?? '') || messages[at - 1]?.content === ASK_EMAIL;
  return wantsRefund ? refund(order, said, results) : locate(order, results);
}

function lastMatch(texts: readonly string[], pattern: RegExp): string | undefined {
  return texts.flatMap((text) => pattern.exec(text) ?? []).at(-1);
}

function refund(order: string, said: readonly string[], [result]: readonly string[]): Answer {
  const email = lastMatch(said, /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/);
  if (email === undefined) return say(ASK_EMAIL);
  if (result === undefined) return call('refund', { order, email, reason: said.at(-1)?.slice(0, 200) });
  const { refunded, problem } = read(result) ?? {};
  if (refunded !== undefined)
    return say(`I have refunded **${refunded}** for order ${order}. A mail that confirms it is on its way.`);
  return say(`I could not refund order ${order}. ${problem || 'Please try again later.'}`);
}

function locate(order: string, [found, tracked]: readonly string[]): Answer {
  if (found === undefined) return call('find_order', { where: { Number: order } });
  const rows = read(found)?.rows;
  if (!rows) return say(`I cannot look up orders at the moment. Please try again later.`);
  const [row] = rows;
  if (!row) return say(`I find no order ${order}. Please check the number.`);
  const { Item, Status, Parcel } = row.values;
  const about = `Your order **${order}** (${Item}) is ${Status}.`;
  if (!Parcel || Status !== 'shipped') return say(about);
  if (tracked === undefined) return call('track_parcel', { query: { number: Parcel } });
  const parcel = read(tracked)?.body;
  if (!parcel) return say(`${about} I cannot track its parcel ${Parcel} at the moment.`);
  return say(`${about} Its parcel ${Parcel} is in ${parcel.place} and arrives ${parcel.arrives}.`);
}

/** A result that is JSON. Failures are told as text. */
function read(text: string): Result | undefined {
  try {
    return JSON.parse(text) as Result;
  } catch {
    return undefined;
  }
}
