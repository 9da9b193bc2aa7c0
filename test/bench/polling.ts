/**
 * `polling`: what a poll pod costs that finds nothing due, as the program of the image, and what looking at 1, 10 and 100 accounts of
 * a real IMAP server costs, in this process. CPU is that of the pod alone.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledPrograms } from '../../images/bundle.ts';
import { layOut } from '../../images/files.ts';
import { loadPoller } from '../../nodes/pollers.ts';
import { Secret } from '../../nodes/secret.ts';
import type { Means } from '../../runner/poll/look.ts';
import { runPod } from '../../runner/poll/pod.ts';
import { keysOf } from '../../runs/keys.ts';
import { putTrigger } from '../../runs/polling/triggers.ts';
import { createCollectedLog } from '../support/collectedLog.ts';
import { runCommand } from '../support/command.ts';
import { IMAP_PASSWORD, startDovecot } from '../support/dovecot.ts';
import { newProject, startRunStore, type TestStore } from '../support/runStore.ts';
import { localEgress } from '../support/stepContext.ts';
import { median, type Figure } from './report.ts';

const COUNTS = [1, 10, 100];
const ROUNDS = 5;

export async function polling(): Promise<Figure[]> {
  const store = await startRunStore({ appendfsync: 'always' });
  const mail = await startDovecot();
  const folder = await mkdtemp(join(tmpdir(), 'windlass-poll-'));
  try {
    await layOut(await bundledPrograms('windlass'), folder);
    const program = join(folder, 'app/poll.mjs');
    const idle: Figure[] = [];
    for (const count of COUNTS) idle.push(await idlePod(store, program, count));
    // The first look loads what reads mail.
    await looks(store, mail.port, 1);
    const looked: Figure[] = [];
    for (const count of COUNTS) looked.push(await looks(store, mail.port, count));
    return [...idle, ...looked];
  } finally {
    await Promise.all([store.stop(), mail.close(), rm(folder, { recursive: true })]);
  }
}

/** A project with so many triggers. */
async function projectOf({ conn }: TestStore, count: number): Promise<string> {
  const project = await newProject(conn);
  for (let n = 0; n < count; n += 1) {
    const uid = `uid-${n}`;
    const names = { workflow: uid, workflowUid: uid, revision: `${uid}-1`, place: uid };
    const fields = { credential: uid };
    await putTrigger(conn, project, { ...names, kind: 'mail', fields, intervalSeconds: 3_600 });
  }
  return project;
}

async function idlePod(store: TestStore, program: string, count: number): Promise<Figure> {
  const project = await projectOf(store, count);
  for (let n = 0; n < count; n += 1)
    await store.conn.command('hset', keysOf(project).poll(`uid-${n}`), 'at', String(Date.now()));
  const own = { PROJECT_UID: project, POD_NAMESPACE: 'shop', POD_NAME: 'pod', REDIS_URL: store.redis.url };
  const environment = Object.entries(own).map(([name, value]) => `${name}=${value}`);
  const command = `TIMEFORMAT='%U %S'; time ${process.execPath} ${program}`;
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const said = await runCommand('env', [...environment, 'bash', '-c', `{ ${command}; } 2>&1`]);
    const [user = 0, system = 0] = (said.trim().split('\n').at(-1) ?? '').split(' ').map(Number);
    times.push((user + system) * 1_000);
  }
  return { name: `a pod, triggers: ${count}, due: 0`, value: median(times), unit: 'ms of CPU' };
}

async function looks(store: TestStore, port: number, count: number): Promise<Figure> {
  const project = await projectOf(store, count);
  const credential: Means['credential'] = async (name) => ({
    name,
    spec: {
      imap: {
        host: '127.0.0.1',
        port,
        tls: 'None',
        username: `${project}-${name}`,
        passwordRef: { name, key: 'password' },
      },
    },
    secret: () => new Secret(IMAP_PASSWORD),
  });
  const means = async () => ({ egress: localEgress, credential });
  const before = process.cpuUsage();
  const log = createCollectedLog();
  await runPod({ conn: store.conn, project, pod: 'pod', poller: loadPoller, means, log, forMs: 50_000 });
  const { user, system } = process.cpuUsage(before);
  return { name: `looks by IMAP, accounts: ${count}`, value: (user + system) / 1_000, unit: 'ms of CPU' };
}
