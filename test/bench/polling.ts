/**
 * `polling`: what one poll pod costs, as the program of the image, where nothing is due and where it polls 1,
 * 10 and 100 accounts of a real IMAP server: CPU, memory, and what it asks the API server, also where there
 * are many new mails. What a poll costs at each provider. And how soon a tick has its run.
 */
import { keysOf } from '../../store/keys.ts';
import { IMAP_PASSWORD, startDovecot, type Dovecot } from '../support/providers/mail/dovecot.ts';
import { startPollPods, type Place, type PollPods, type Took } from '../support/runner/pollPods.ts';
import { DRIVERS } from '../support/conformance/register.ts';
import { newProject } from '../support/runStore/runStore.ts';
import { benchmarkPolls } from './providers.ts';
import { median, type Figure } from './report.ts';

const COUNTS = [1, 10, 100];
const MAILS = [0, 10, 100];
const ROUNDS = 5;

export async function polling(): Promise<Figure[]> {
  const [pods, mail] = await Promise.all([startPollPods('bench'), startDovecot({ oneFile: true })]);
  try {
    const figures: Figure[] = [];
    for (const count of COUNTS)
      figures.push(...figuresOf(`triggers: ${count}, due: 0`, await idle(pods, mail, count)));
    for (const count of COUNTS)
      figures.push(...figuresOf(`triggers: ${count}, due: ${count}`, await measurePolls(pods, mail, count)));
    for (const mails of MAILS) {
      const { requests, runs } = await measurePolls(pods, mail, 1, mails);
      if (runs !== mails) throw new Error(`${mails} mails started ${runs} runs`);
      figures.push({ name: `one account, new mails: ${mails}`, value: requests, unit: 'API requests' });
    }
    // With another login it is the same provider.
    for (const driver of DRIVERS.filter(({ differsByLogin }) => !differsByLogin))
      figures.push(...(await benchmarkPolls(pods, driver)));
    return [...figures, ...(await ticks(pods))];
  } finally {
    await Promise.all([pods.stop(), mail.close()]);
  }
}

/** `requests`: to the API server. */
type Poll = Took & { requests: number };

async function pollOnce(pods: PollPods, place: Place): Promise<Poll> {
  const asked = await pods.requestsSoFar();
  const took = await pods.pod(place);
  return { ...took, requests: (await pods.requestsSoFar()) - asked };
}

function figuresOf(name: string, { cpuMs, memoryMiB, requests }: Poll): Figure[] {
  return [
    { name, value: cpuMs, unit: 'ms of CPU' },
    { name, value: memoryMiB, unit: 'MiB' },
    { name, value: requests, unit: 'API requests' },
  ];
}

/**
 * A project with so many triggers, of an account and a Secret each; each account has so many mails that
 * nobody has polled.
 */
async function createProject(pods: PollPods, mail: Dovecot, count: number, mails: number): Promise<Place> {
  const place = await pods.createPlace();
  for (let n = 0; n < count; n += 1) {
    const uid = `uid-${n}`;
    const username = `${place.namespace}-${n}`;
    if (mails > 0) mail.fill(username, mails);
    const imap = { host: '127.0.0.1', port: mail.port, tls: 'None', username } as const;
    await pods.watch(place, {
      uid,
      kind: 'mail',
      spec: { imap: { ...imap, passwordRef: { name: uid, key: 'password' } } },
      secrets: { password: IMAP_PASSWORD },
      ...(mails > 0 && { reset: { value: 'past', since: '2025-01-01T00:00:00Z' } }),
    });
  }
  return place;
}

async function idle(pods: PollPods, mail: Dovecot, count: number): Promise<Poll> {
  const place = await createProject(pods, mail, count, 0);
  const now = String(Date.now());
  for (let n = 0; n < count; n += 1)
    await pods.conn.command('hset', keysOf(place.project).poll(`uid-${n}`), 'at', now);
  const rounds: Poll[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await pollOnce(pods, place));
  const medianOf = (field: keyof Poll) => median(rounds.map((took) => took[field]));
  return { cpuMs: medianOf('cpuMs'), memoryMiB: medianOf('memoryMiB'), requests: medianOf('requests') };
}

async function measurePolls(
  pods: PollPods,
  mail: Dovecot,
  count: number,
  mails = 0,
): Promise<Poll & { runs: number }> {
  const place = await createProject(pods, mail, count, mails);
  const took = await pollOnce(pods, place);
  const runs = await pods.conn.command('zcard', keysOf(place.project).runs('uid-0'));
  return { ...took, runs: Number(runs) };
}

async function ticks(pods: PollPods): Promise<Figure[]> {
  const rounds: (Took & { ms: number })[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await tick(pods, round));
  const medianOf = (field: 'ms' | 'cpuMs' | 'memoryMiB') => median(rounds.map((took) => took[field]));
  return [
    { name: 'a tick, from its start to its run', value: medianOf('ms'), unit: 'ms' },
    { name: 'a tick', value: medianOf('cpuMs'), unit: 'ms of CPU' },
    { name: 'a tick', value: medianOf('memoryMiB'), unit: 'MiB' },
  ];
}

/** A tick, with the time from its start until its run is accepted. */
async function tick(pods: PollPods, round: number): Promise<Took & { ms: number }> {
  const workflow = { WORKFLOW: 'report', WORKFLOW_UID: 'report', REVISION: 'report-1', TIME_ZONE: 'UTC' };
  const job = { CRON_JOB: 'report', JOB_NAME: `by-hand-${round}`, JOB_UID: `uid-${round}` };
  const took = await pods.run('tick', { PROJECT_UID: await newProject(pods.conn), ...workflow, ...job });
  const line = took.log.map((text) => JSON.parse(text) as { msg: string; time: number });
  const { time = Number.NaN } = line.find(({ msg }) => msg === 'run started') ?? {};
  return { ...took, ms: time - took.before };
}
