/** The examples that are called over HTTP: one that is started by hand, and one whose webhook answers a question. */
import { callerToken } from '../support/gateway.ts';
import { runNames, showRun, type Stage, type Tell } from './runs.ts';

const RUN_MS = 30_000;

/** Starts it with the execute call, and shows the outputs that it is answered with. */
export async function showHello(stage: Stage): Promise<void> {
  const url = `${stage.gateway.internalURL}/workflows/${stage.project}.hello/execute`;
  const authorization = `Bearer ${await callerToken(stage.cluster)}`;
  await call(stage, 'hello', { url, headers: { authorization, prefer: 'wait=30' }, body: { name: 'Ada' } });
}

/** Asks the webhook how many mails somebody has got. */
export async function showMailCount(stage: Stage): Promise<void> {
  const url = `${stage.gateway.publicURL}/webhook/${stage.project}.mail-count/mails`;
  await call(stage, 'mail-count', { url, headers: {}, body: { email: 'Ada@example.com' } });
}

/** Asks the webhook for a quote, which the variables of the project decide. */
export async function showEnvironments(stage: Stage): Promise<void> {
  const url = `${stage.gateway.publicURL}/webhook/${stage.project}.environments/quotes`;
  const body = { items: [{ price: 19.99, quantity: 3 }] };
  await call(stage, 'environments', { url, headers: {}, body });
}

type Call = { url: string; headers: Record<string, string>; body: object };

async function call(stage: Stage, workflow: string, { url, headers, body }: Call): Promise<void> {
  const { tell } = stage;
  const before = await runNames(stage, workflow);
  tell();
  tell(`POST ${url}`);
  tell(`  ${JSON.stringify(body)}`);
  const json = { ...headers, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers: json, body: JSON.stringify(body) });
  tell();
  await showAnswer(response, 200, tell);
  await showRun(stage, workflow, { before, timeoutMs: RUN_MS });
}

/** Tells what was answered. Throws when the status is another one. */
export async function showAnswer(response: Response, status: number, tell: Tell): Promise<void> {
  tell(`the answer: HTTP ${response.status} ${response.headers.get('content-type') ?? ''}`);
  tell(`  ${await response.text()}`);
  if (response.status !== status)
    throw new Error(`the answer should have been ${status}, as the response node says`);
}
