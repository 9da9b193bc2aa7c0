/**
 * The examples that are called over HTTP: one that is started by hand, one whose webhook answers a question,
 * and one whose items pass once.
 */
import { parseExact } from '../../api/exact/exactNumber.ts';
import { callerToken } from '../support/installation/installedGateway.ts';
import { runNames, showRun, type Demo, type Tell } from './runs.ts';

const RUN_MS = 30_000;

/** Starts it with the execute call, and shows the outputs that it is answered with. */
export async function showHello(demo: Demo): Promise<void> {
  const url = `${demo.gateway.internalURL}/workflows/${demo.project}.hello/execute`;
  const authorization = `Bearer ${await callerToken(demo.cluster)}`;
  await call(demo, 'hello', { url, headers: { authorization, prefer: 'wait=30' }, body: { name: 'Ada' } });
}

/** Asks the webhook how many mails somebody has got. */
export async function showMailCount(demo: Demo): Promise<void> {
  const url = `${demo.gateway.publicURL}/webhook/${demo.project}.mail-count/mails`;
  await call(demo, 'mail-count', { url, headers: {}, body: { email: 'Ada@example.com' } });
}

/** Sends an order, then the same one with another: each is new once, and its ID keeps every digit. */
export async function showNewOrders(demo: Demo): Promise<void> {
  const url = `${demo.gateway.publicURL}/webhook/${demo.project}.new-orders/orders`;
  const first = parseExact('[{"id":12345678901234567890}]') as object[];
  const second = parseExact('[{"id":12345678901234567891}]') as object[];
  for (const orders of [first, [...first, ...second]])
    await call(demo, 'new-orders', { url, headers: {}, body: { orders } });
}

/** Asks the webhook for a quote, which the variables of the project decide. */
export async function showEnvironments(demo: Demo): Promise<void> {
  const url = `${demo.gateway.publicURL}/webhook/${demo.project}.environments/quotes`;
  const body = { items: [{ price: 19.99, quantity: 3 }] };
  await call(demo, 'environments', { url, headers: {}, body });
}

type Call = { url: string; headers: Record<string, string>; body: object };

async function call(demo: Demo, workflow: string, { url, headers, body }: Call): Promise<void> {
  const { tell } = demo;
  const before = await runNames(demo, workflow);
  tell();
  tell(`POST ${url}`);
  tell(`  ${JSON.stringify(body)}`);
  const json = { ...headers, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers: json, body: JSON.stringify(body) });
  tell();
  await showAnswer(response, 200, tell);
  await showRun(demo, workflow, { before, timeoutMs: RUN_MS });
}

/** Tells what was answered. Throws when the status is another one. */
export async function showAnswer(response: Response, status: number, tell: Tell): Promise<void> {
  tell(`the answer: HTTP ${response.status} ${response.headers.get('content-type') ?? ''}`);
  tell(`  ${await response.text()}`);
  if (response.status !== status)
    throw new Error(`the answer should have been ${status}, as the response node says`);
}
