/** The example of an agent that sorts mail. */
import { receivedMails } from '../support/installation/demoMailbox.ts';
import {
  askedOfModel,
  ATTACKER,
  COMMANDING_MAIL,
  deliverSupportMail,
  isRunOfMail,
  sortingOf,
  type SupportMail,
} from '../support/installation/supportMails.ts';
import { showMail } from './mails.ts';
import { endedRun, runNames, type Demo, type EndedRun } from './runs.ts';

const WORKFLOW = 'mail-triage';
/** A poll each half minute, a minute and what a pod takes where one has just ended. */
const POLL_MS = 120_000;

const MAILS: readonly SupportMail[] = [
  {
    from: 'Ada <ada@example.com>',
    subject: 'The shop is down',
    text: 'The page has not opened for ten minutes, and nobody can pay.',
  },
  {
    from: 'Bob <bob@example.com>',
    subject: 'Invoice 2026-117',
    text: 'My card was charged twice for this invoice.',
  },
  {
    from: 'Lottery <winner@example.net>',
    subject: 'You are our winner',
    text: 'Send your address to get your prize.',
  },
  COMMANDING_MAIL,
];

/** Delivers four mails, and shows what became of each. */
export async function showMailTriage(demo: Demo): Promise<void> {
  const { cluster, tell } = demo;
  const [before, sent] = await Promise.all([runNames(demo, WORKFLOW), receivedMails(cluster)]);
  tell();
  tell('four mails come into the inbox of support, which is polled every 30 seconds:');
  const delivered: [mail: SupportMail, identity: string][] = [];
  for (const mail of MAILS) {
    tell(`  ${mail.from}: ${mail.subject}`);
    delivered.push([mail, await deliverSupportMail(cluster, mail)]);
  }
  for (const [mail, identity] of delivered) {
    const run = await endedRun(demo, WORKFLOW, {
      fits: ({ name, status }) => !before.has(name) && isRunOfMail(identity, status),
      timeoutMs: POLL_MS,
    });
    tell();
    tell(`${mail.from}: ${mail.subject}`);
    for (const line of mail.text.split('\n')) tell(`  │ ${line}`.trimEnd());
    if (mail === COMMANDING_MAIL) await showObeyed(demo, run.name);
    showTriage(demo, run);
  }
  const known = new Set(sent.map(({ messageId }) => messageId));
  await showMail(
    cluster,
    tell,
    (mail) => mail.subject === 'Urgent: The shop is down' && !known.has(mail.messageId),
  );
}

function showTriage({ tell }: Demo, { name, status }: EndedRun): void {
  const { phase, duration, nodes = [] } = status;
  const steps = nodes.slice(2).filter((node) => node.phase !== 'Skipped');
  tell(`  the agent answers: ${JSON.stringify(sortingOf(status))}`);
  tell(`  the workflow: ${steps.map((node) => `${node.id} ${node.phase}`).join(', ') || 'does nothing'}`);
  tell(`  run ${name}: ${phase} after ${duration}`);
  if (phase !== 'Succeeded') throw new Error('the run should have succeeded');
}

/** What the model did with the command, and that nothing came of it. */
async function showObeyed({ cluster, tell }: Demo, run: string): Promise<void> {
  const told = (await askedOfModel(cluster, run)).at(-1)?.body.messages.at(-1)?.content ?? '';
  const leaked = (await receivedMails(cluster)).filter(({ to }) => to.includes(ATTACKER));
  tell(`  the demo's model obeys, and calls the tool. Windlass tells it: ${told}`);
  tell(`  mails to ${ATTACKER}: ${leaked.length}`);
  if (leaked.length > 0) throw new Error(`no mail should have gone to ${ATTACKER}`);
}
