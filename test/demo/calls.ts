/**
 * The examples that are called over HTTP: one that is started by hand, one whose webhook answers a question,
 * one whose items pass once, one that mails an invoice, one that variables configure, and two with loops.
 */
import { parseExact } from '../../api/exact/exactNumber.ts';
import { receivedMails } from '../support/installation/demoMailbox.ts';
import { callerToken } from '../support/installation/installedGateway.ts';
import { showMail } from './mails.ts';
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

/** Sends an order whose sums are not exact in doubles; shows the invoice that goes out. */
export async function showInvoice(demo: Demo): Promise<void> {
  const sent = (await receivedMails(demo.cluster)).length;
  const url = `${demo.gateway.publicURL}/webhook/${demo.project}.invoices/orders`;
  const items = [
    { name: 'desk', quantity: 1, price: 349 },
    { name: 'lamp', quantity: 3, price: 19.9 },
    { name: 'cable', quantity: 3, price: 1.1 },
  ];
  const customer = { name: 'Ada', email: 'ada@example.com' };
  const body = { number: parseExact('12345678901234567890'), customer, items };
  await call(demo, 'invoices', { url, headers: {}, body, status: 201 });
  const subject = 'Invoice for order 12345678901234567890: 490.28 EUR';
  await showMail(demo.cluster, demo.tell, (mail, index) => index >= sent && mail.subject === subject);
}

/** Sends a newsletter to three subscribers: the mail server refuses one of them. */
export async function showNewsletter(demo: Demo): Promise<void> {
  const url = `${demo.gateway.publicURL}/webhook/${demo.project}.newsletter/newsletters`;
  const subscribers = ['ada', 'refuse', 'bob'].map((name) => ({ name, email: `${name}@example.com` }));
  const body = { subject: 'News', text: 'The shop has new lamps.', subscribers };
  await call(demo, 'newsletter', { url, headers: {}, body });
}

/** Has a job done, which the API finishes at the third question. */
export async function showJob(demo: Demo): Promise<void> {
  const url = `${demo.gateway.publicURL}/webhook/${demo.project}.poll-a-job/jobs`;
  await call(demo, 'poll-a-job', { url, headers: {}, body: { report: 'May' } });
}

/** Asks the webhook for a quote, which the variables of the project decide. */
export async function showEnvironments(demo: Demo): Promise<void> {
  const url = `${demo.gateway.publicURL}/webhook/${demo.project}.environments/quotes`;
  const body = { items: [{ price: 19.99, quantity: 3 }] };
  await call(demo, 'environments', { url, headers: {}, body });
}

type Call = { url: string; headers: Record<string, string>; body: object; status?: number };

async function call(demo: Demo, workflow: string, { url, headers, body, status = 200 }: Call): Promise<void> {
  const { tell } = demo;
  const before = await runNames(demo, workflow);
  tell();
  tell(`POST ${url}`);
  tell(`  ${JSON.stringify(body)}`);
  const json = { ...headers, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers: json, body: JSON.stringify(body) });
  tell();
  await showAnswer(response, status, tell);
  await showRun(demo, workflow, { before, timeoutMs: RUN_MS });
}

/** Tells what was answered. Throws when the status is another one. */
export async function showAnswer(response: Response, status: number, tell: Tell): Promise<void> {
  tell(`the answer: HTTP ${response.status} ${response.headers.get('content-type') ?? ''}`);
  tell(`  ${await response.text()}`);
  if (response.status !== status)
    throw new Error(`the answer should have been ${status}, as the response node says`);
}
