/**
 * A real S3 server of one's own (versitygw) on a free port of 127.0.0.1, with a folder of its own and one
 * account.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../process/folder.ts';
import { freePort } from '../../process/freePort.ts';
import { pollUntil } from '../../time/poll.ts';
import { createProgress } from '../../process/progress.ts';
import { ensureS3Program } from './s3Program.ts';

export type S3Server = {
  url: string;
  accessKeyId: string;
  secretAccessKey: string;
  makeBucket(name: string): Promise<void>;
  /** Makes empty objects in no time: as files of the folder that it keeps. They have no ETag. */
  fill(bucket: string, keys: readonly string[]): Promise<void>;
  close(): Promise<void>;
};

const ACCOUNT = { accessKeyId: 'test-access-key', secretAccessKey: 'test-secret-access-key' };
const START_TIMEOUT_MS = 20_000;

/** Starts it and waits until it answers. */
export async function startS3Server(): Promise<S3Server> {
  const program = await ensureS3Program(createProgress(process.stderr));
  const { path: folder, remove } = await makeFolder('s3');
  const [data, sidecar] = [join(folder, 'data'), join(folder, 'sidecar')];
  for (const each of [data, sidecar]) await mkdir(each);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  // File systems of containers have no extended attributes, so what is known of an object lies beside it.
  const server = [
    '--quiet',
    '--keep-alive',
    '--port',
    `127.0.0.1:${port}`,
    'posix',
    '--sidecar',
    sidecar,
    data,
  ];
  const child = spawn('setpriv', ['--pdeathsig', 'SIGKILL', program, ...server], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      ROOT_ACCESS_KEY_ID: ACCOUNT.accessKeyId,
      ROOT_SECRET_ACCESS_KEY: ACCOUNT.secretAccessKey,
    },
  });
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    remove();
  };
  const answers = () =>
    fetch(url).then(
      async (response) => (await response.text()) !== '',
      () => false,
    );
  try {
    await pollUntil('the S3 server answering', answers, { timeoutMs: START_TIMEOUT_MS, everyMs: 20 });
  } catch (error) {
    await close();
    throw error;
  }
  const fill: S3Server['fill'] = async (bucket, keys) => {
    for (const key of keys) await writeFile(join(data, bucket, key), '');
  };
  return { url, ...ACCOUNT, makeBucket: (name) => mkdir(join(data, name)), fill, close };
}
