/**
 * The examples about mail: one that answers what comes into a mailbox, and one that writes at the times of a
 * schedule.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from '../cluster/cluster.ts';
import { exampleFolder, waitForReady } from '../support/installation/install.ts';
import { getJson, kubectl } from '../support/cluster/kubectl.ts';
import { deliverMail, receivedMails } from '../support/installation/demoMailbox.ts';
import type { ReceivedMail } from '../support/providers/mail/mailServer.ts';
import { pollUntil } from '../support/time/poll.ts';
import { runNames, showRun, type Demo, type Tell } from './runs.ts';

/** A poll each half minute, a minute and what a pod takes where one has just ended. */
const POLL_MS = 120_000;
/** A minute, and what a pod and its run take. */
const TICK_MS = 120_000;
const MAIL_MS = 10_000;

/**
 * Delivers a mail to the mailbox that is watched; shows the run that it starts, and the answer that goes out.
 */
export async function showMailReply(demo: Demo): Promise<void> {
  const { cluster, tell } = demo;
  const before = await runNames(demo, 'mail-reply');
  const identity = `<${randomUUID()}@example.com>`;
  const mail = [
    'From: Ada <ada@example.com>',
    'To: orders@example.com',
    'Subject: My order A-1001',
    `Message-ID: ${identity}`,
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    '',
    'Where is my lamp?',
    '',
  ];
  tell();
  tell('a mail comes into the mailbox of orders, which is polled every 30 seconds:');
  for (const line of mail) tell(`  ${line}`.trimEnd());
  await deliverMail(cluster, 'orders', mail.join('\n'));
  await showRun(demo, 'mail-reply', { before, timeoutMs: POLL_MS });
  await showMail(cluster, tell, (sent) => sent.headers['in-reply-to'] === identity);
}

/** Shows a run of the schedule, and its mail. */
export async function showMorningMail(demo: Demo): Promise<void> {
  await showSchedule(demo, 'morning-mail', 'Good morning');
}

/** Shows a run of the schedule with its child runs, and its mail. */
export async function showNightlyReport(demo: Demo): Promise<void> {
  const run = await showSchedule(demo, 'nightly-report', 'Nightly report');
  const { cluster, project, tell } = demo;
  const children = ['get', 'workflowruns', '-n', project, '-l', `windlass.dev/parent=${run}`];
  tell();
  tell('its child runs, one for each customer:');
  tell((await kubectl(cluster, children)).trimEnd());
}

/**
 * Has the schedule fire each minute until its first run is there, shows that, and puts the schedule back.
 * Answers the name of the run.
 */
async function showSchedule(demo: Demo, name: string, subject: string): Promise<string> {
  const { cluster, project, tell } = demo;
  const workflow = await readFile(join(exampleFolder(name), 'workflow.yaml'), 'utf8');
  const [before, mails] = await Promise.all([runNames(demo, name), receivedMails(cluster)]);
  const apply = (manifest: string) =>
    kubectl(cluster, ['apply', '-n', project, '-f', '-'], { input: manifest });
  let first: string;
  try {
    await apply(workflow.replace(/cron: .*/, 'cron: "* * * * *"'));
    await waitForReady(cluster, name, project);
    tell();
    tell('so that nobody has to wait for its time, it fires each minute for now (cron: "* * * * *").');
    const run = await showRun(demo, name, { before, timeoutMs: TICK_MS });
    const known = new Set(mails.map(({ messageId }) => messageId));
    await showMail(cluster, tell, (mail) => mail.subject.startsWith(subject) && !known.has(mail.messageId));
    first = run;
  } finally {
    await apply(workflow);
  }
  await waitForReady(cluster, name, project);
  type Scheduled = { status: { schedule?: { next?: string } } };
  const { status } = await getJson<Scheduled>(cluster, '-n', project, 'workflows.windlass.dev', name);
  tell();
  tell(`the schedule is what the file says again, and fires at ${status.schedule?.next}:`);
  const cronJobs = ['get', 'cronjobs', '-n', project, '-l', `windlass.dev/workflow=${name}`];
  tell((await kubectl(cluster, cronJobs)).trimEnd());
  return first;
}

/** Tells the first mail that the mail server received and that fits. */
export async function showMail(
  cluster: Cluster,
  tell: Tell,
  fits: (mail: ReceivedMail, index: number) => boolean,
): Promise<void> {
  const mail = await pollUntil(
    'a mail at the mail server',
    async () => (await receivedMails(cluster)).find(fits),
    { timeoutMs: MAIL_MS },
  );
  const replied = mail.headers['in-reply-to'];
  tell();
  tell('the mail that the mail server received:');
  tell(`  From: ${mail.from}`);
  tell(`  To: ${mail.to.join(', ')}`);
  tell(`  Subject: ${mail.subject}`);
  if (replied !== undefined) tell(`  In-Reply-To: ${replied}`);
  for (const line of ['', ...mail.text.split('\n')]) tell(`  ${line}`.trimEnd());
}
