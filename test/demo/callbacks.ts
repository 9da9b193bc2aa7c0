/** The example whose run waits until an outside system calls back. */
import { receivedMails } from '../support/installation/demoMailbox.ts';
import { pollUntil } from '../support/time/poll.ts';
import { showAnswer } from './calls.ts';
import { runNames, showRun, type Demo } from './runs.ts';

const WORKFLOW = 'long-job';
const MAIL_MS = 30_000;
const RUN_MS = 30_000;

/** Sends a job, reads the URL in the mail to the workshop, and calls it as the workshop does. */
export async function showLongJob(demo: Demo): Promise<void> {
  const { cluster, gateway, project, tell } = demo;
  const before = await runNames(demo, WORKFLOW);
  const number = `J-${Date.now()}`;
  await post(demo, `${gateway.publicURL}/webhook/${project}.${WORKFLOW}/jobs`, { number, what: 'a lamp' });
  const { text } = await pollUntil(
    'the mail to the workshop',
    async () => (await receivedMails(cluster)).find(({ subject }) => subject === `Job ${number}`),
    { timeoutMs: MAIL_MS, everyMs: 500 },
  );
  tell();
  tell('the mail to the workshop, while the run waits without a runner:');
  for (const line of text.trim().split('\n')) tell(`  ${line}`);
  const [path = ''] = /\/callback\/\S+/.exec(text) ?? [];
  await post(demo, `${gateway.publicURL}${path}`, { result: 'one lamp' });
  await showRun(demo, WORKFLOW, { before, timeoutMs: RUN_MS });
}

async function post({ tell }: Demo, url: string, body: object): Promise<void> {
  tell();
  tell(`POST ${url}`);
  tell(`  ${JSON.stringify(body)}`);
  const headers = { 'content-type': 'application/json' };
  await showAnswer(await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }), 200, tell);
}
