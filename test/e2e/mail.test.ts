/**
 * Mail on a real cluster: a runner polls a real IMAP server, and each new mail is one run, whatever is
 * killed.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitForReady } from '../support/installation/install.ts';
import { deliverMail } from '../support/installation/demoMailbox.ts';
import { pollUntil } from '../support/time/poll.ts';
import {
  apply,
  cluster,
  condition,
  createProject,
  cronJobsOf,
  kube,
  mailsTo,
  recordedRuns,
  removeProject,
  workflowOf,
  type RecordedRun,
} from './environment.ts';

/** A poll each 5 seconds. After a killed runner the next one waits 15 seconds for its lease. */
const POLLED = { timeoutMs: 100_000, everyMs: 500 };
/** Whoever has the password has a mailbox at the demo's server. */
const PASSWORD = 'demo-password';
const HOST = 'windlass-demo.svc';

let project: string;
beforeAll(async () => {
  project = await createProject();
  await mail(OLD);
  await apply(project, secretOf(PASSWORD, 'wrong'), ...accounts(), answers(true), counts(true));
});
afterAll(() => removeProject(project));

/** The mailbox is the project's, so that nobody else's mail is in it. */
const credential = (name: string, spec: object) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Credential',
  metadata: { name },
  spec,
});
const secretOf = (good: string, other: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'accounts' },
  stringData: { good, other },
});
const accounts = () => {
  const key = (name: string) => ({ name: 'accounts', key: name });
  const imap = { host: `imap.${HOST}`, port: 1143, tls: 'None', username: project };
  const smtp = { host: `mail.${HOST}`, port: 2525, tls: 'None', username: 'orders' };
  return [
    credential('mailbox', { imap: { ...imap, passwordRef: key('good') } }),
    credential('again', { imap: { ...imap, passwordRef: key('other') } }),
    credential('smtp', { smtp: { ...smtp, passwordRef: key('good'), from: 'orders@example.com' } }),
  ];
};

/** Answers what comes in. */
const answers = (active: boolean) => {
  const parameters = { mail: "{{ $('trigger').data_content }}", body: 'It is on its way.' };
  const nodes = [
    { id: 'trigger', mail: { credential: 'mailbox', pollIntervalSeconds: 5 } },
    { id: 'answer', skill: { name: 'reply_email', credential: 'smtp', parameters } },
  ];
  return workflowOf('answers', nodes, { active });
};
/** Polls the same mailbox, with an account whose password is wrong at first. */
const counts = (active: boolean) => {
  const trigger = {
    id: 'trigger',
    mail: { credential: 'again', pollIntervalSeconds: 5, attachments: 'None' },
  };
  return workflowOf('counts', [trigger], { active });
};

const OLD = 'old';
const FIRST = 'first';
/** The person who writes: nobody else's answers go there. */
const writer = () => `${project}@example.com`;
const identity = (name: string) => `<${name}.${project}@example.com>`;

async function mail(name: string, lines: string[] = []): Promise<void> {
  const head = [
    `From: Ada <${writer()}>`,
    'To: orders@example.com',
    `Subject: Order ${name}`,
    `Message-ID: ${identity(name)}`,
    'Date: Mon, 2 Mar 2026 10:30:00 +0100',
  ];
  const body = lines.length > 0 ? lines : ['', 'Where is my lamp?'];
  await deliverMail(cluster, project, `${[...head, ...body].join('\n')}\n`);
}

/** With a text, its HTML and a picture of four bytes. */
const WITH_ATTACHMENT = [
  'In-Reply-To: <offer@example.com>',
  'References: <start@example.com> <offer@example.com>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<p>Where is <b>my</b> lamp?</p>',
  '--b',
  'Content-Type: image/png; name=lamp.png',
  'Content-Disposition: attachment; filename=lamp.png',
  'Content-Transfer-Encoding: base64',
  '',
  'AAECAw==',
  '--b--',
];

const runsOf = async (workflow: string): Promise<RecordedRun[]> =>
  (await recordedRuns(project)).filter(({ spec }) => spec.workflow === workflow);
/** The names of the mails that started runs, one for each run. */
const mailsOf = (runs: RecordedRun[]): string[] =>
  runs.map(({ status }) => {
    const { message_id } = (status?.nodes?.[0]?.output?.data_content ?? {}) as { message_id?: string };
    return message_id?.slice(1).split('.')[0] ?? '';
  });

/** The runs of the workflow, once that mail has started one and all have ended. */
const runsWith = (workflow: string, name: string): Promise<RecordedRun[]> =>
  pollUntil(
    `the run of ${workflow} for the mail ${name}`,
    async () => {
      const runs = await runsOf(workflow);
      const ended = runs.every(({ status }) => status?.completionTime !== undefined);
      return ended && mailsOf(runs).includes(name) && runs;
    },
    POLLED,
  );

test('a wrong password is said of the credential and of the workflow, and heals once the Secret is corrected', async () => {
  const name = 'credentials.windlass.dev/again';
  const wrong = await condition(project, name, 'Ready', { status: 'False', reason: 'Rejected' });
  expect(wrong.message).toContain(`imap.${HOST}`);
  expect(wrong.message).not.toContain('wrong');
  const told = await condition(project, 'workflows.windlass.dev/counts', 'CredentialsReady', {
    status: 'False',
  });
  expect(told).toMatchObject({ reason: 'CredentialNotReady', message: expect.stringContaining('Rejected') });
  await apply(project, secretOf(PASSWORD, PASSWORD));
  await condition(project, name, 'Ready', { status: 'True', reason: 'Checked' });
});

test('a new mail starts one run with its text, header and attachments, and the answer is in its conversation; old mail starts none', async () => {
  await waitForReady(cluster, 'answers', project);
  await mail(FIRST, WITH_ATTACHMENT);
  const runs = await runsWith('answers', FIRST);
  expect(mailsOf(runs)).toEqual([FIRST]);
  expect(runs[0]?.status?.phase).toBe('Succeeded');
  expect(runs[0]?.spec.trigger).toMatchObject({ type: 'mail', key: expect.stringMatching(/^mail\//) });
  expect(runs[0]?.status?.nodes?.[0]?.output).toMatchObject({
    text_content: expect.stringMatching(/^Where is my lamp\?/),
    data_content: {
      from: `Ada <${writer()}>`,
      subject: 'Order first',
      date: '2026-03-02T09:30:00.000Z',
      to: ['orders@example.com'],
      message_id: identity(FIRST),
      in_reply_to: '<offer@example.com>',
      references: ['<start@example.com>', '<offer@example.com>'],
      html: expect.stringContaining('<b>my</b>'),
      attachments: [{ filename: 'lamp.png', content_type: 'image/png', size: 4 }],
      truncated: false,
    },
  });
  const sent = await mailsTo(writer());
  expect(sent.map(({ subject }) => subject)).toEqual(['Re: Order first']);
  expect(sent[0]?.headers).toMatchObject({
    'in-reply-to': identity(FIRST),
    references: `<start@example.com> <offer@example.com> ${identity(FIRST)}`,
  });
});

test('a runner that is killed while mail comes in loses none and starts none twice', async () => {
  const names = Array.from({ length: 8 }, (_, index) => `m${index}`);
  for (const name of names.slice(0, 4)) await mail(name);
  const runners = ['-l', 'app.kubernetes.io/name=windlass-runner'];
  const kill = ['delete', 'pods', '-n', project, ...runners, '--force', '--grace-period=0', '--wait=false'];
  await Promise.all([kube(kill), ...names.slice(4).map((name) => mail(name))]);
  await Promise.all(names.map((name) => runsWith('answers', name)));
  // A poll that began after all of them.
  await mail('last');
  const runs = await runsWith('answers', 'last');
  expect(mailsOf(runs).toSorted()).toEqual([FIRST, 'last', ...names].toSorted());
  // A run whose runner was killed while the mail server had the answer may be in doubt, but answers once.
  const succeeded = runs.filter(({ status }) => status?.phase === 'Succeeded').length;
  const { length: sent } = await mailsTo(writer());
  expect(succeeded).toBeGreaterThanOrEqual(2);
  expect(sent >= succeeded && sent <= runs.length).toBe(true);
});

test('an inactive workflow starts no run while another one polls the same mailbox; when both are inactive, nothing polls it', async () => {
  await waitForReady(cluster, 'counts', project);
  const before = await runsOf('answers');
  await apply(project, answers(false));
  await condition(project, 'workflows.windlass.dev/answers', 'Active', { status: 'False' });
  await mail('late');
  await runsWith('counts', 'late');
  await apply(project, counts(false));
  const within = { timeout: POLLED.timeoutMs, interval: POLLED.everyMs };
  await expect.poll(() => cronJobsOf(project), within).toEqual([]);
  expect(mailsOf(await runsOf('answers')).toSorted()).toEqual(mailsOf(before).toSorted());
});
