/** Sends the order of the demo and tells what happens with it, while it happens. */
import { callerToken, liveEvents } from '../support/installation/installedGateway.ts';
import { receivedMails } from '../support/installation/demoMailbox.ts';
import { pollUntil } from '../support/time/poll.ts';
import { showAnswer } from './calls.ts';
import { showMail } from './mails.ts';
import { runNames, type Demo, type Tell } from './runs.ts';

const workflow = 'order-confirmation';
const order = {
  number: 'A-1001',
  customer: { name: 'Ada', email: 'ada@example.com' },
  items: [
    { name: 'lamp', quantity: 2, price: 19.5 },
    { name: 'cable', quantity: 1, price: 4 },
  ],
};

/**
 * Sends the webhook, shows the agent's text as it streams, the answer and the mail. Throws when one of them
 * does not come.
 */
export async function showOrder(demo: Demo): Promise<void> {
  const { cluster, gateway, project, tell } = demo;
  const token = await callerToken(cluster);
  const [runsBefore, mailsBefore] = await Promise.all([runNames(demo, workflow), receivedMails(cluster)]);
  const url = `${gateway.publicURL}/webhook/${project}.${workflow}/orders`;
  tell();
  tell(`POST ${url}`);
  tell(`  ${JSON.stringify(order)}`);
  const answering = fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  const run = await newRun(demo, runsBefore, answering);
  tell();
  tell(`run ${run}, as GET …/workflows/${project}.${workflow}/runs/${run}/events tells it:`);
  await showEvents(`${gateway.internalURL}/workflows/${project}.${workflow}/runs/${run}/events`, token, tell);
  tell();
  await showAnswer(await answering, 201, tell);
  await showMail(cluster, tell, (_mail, index) => index === mailsBefore.length);
}

/**
 * The webhook answers when the run is done, so that its name comes from its object, which is there from the
 * start.
 */
async function newRun(demo: Demo, before: Set<string>, answering: Promise<Response>): Promise<string> {
  const stop = new AbortController();
  const recorded = pollUntil(
    'a WorkflowRun of the webhook',
    async () => [...(await runNames(demo, workflow))].find((name) => !before.has(name)),
    { timeoutMs: 30_000, signal: stop.signal },
  );
  try {
    await Promise.race([recorded, accepted(answering)]);
    return await recorded;
  } finally {
    stop.abort();
  }
}

/** Throws when the gateway does not take the order, or the run fails. */
async function accepted(answering: Promise<Response>): Promise<void> {
  const response = await answering;
  if (!response.ok) throw new Error(`the webhook answered ${response.status}: ${await response.text()}`);
}

async function showEvents(url: string, token: string, tell: Tell): Promise<void> {
  let speaking = false;
  for await (const event of liveEvents(url, token)) {
    if (event.type === 'text') {
      if (!speaking) process.stdout.write('  │ ');
      speaking = true;
      process.stdout.write((event.text ?? '').replaceAll('\n', '\n  │ '));
      continue;
    }
    if (speaking) tell();
    speaking = false;
    tell(`  ${event.node ?? 'run'}: ${event.phase ?? ''}${event.reason ? ` (${event.reason})` : ''}`);
  }
}
