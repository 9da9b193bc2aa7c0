/**
 * Builds a real S3 server from a Go module into the cache folder of the user, once for each state of `s3/go.mod`: complete or absent, also
 * when it is stopped in the middle or started twice.
 */
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildHash, goBuild } from '../cluster/build.ts';
import { readClusterConfig } from '../cluster/config.ts';
import { withLock } from './lock.ts';
import { stepFailure, type Progress, type Update } from './progress.ts';

const sources = join(import.meta.dirname, 's3');
const args = ['build', '-trimpath', '-ldflags', '-s -w', '-o'];
const program = 'github.com/versity/versitygw/cmd/versitygw';

/** The program, built when it is not there yet (a minute on two cores). Throws, with the place of the log, where that fails. */
export async function ensureS3Program(progress: Progress): Promise<string> {
  const files = new Map<string, string>();
  for (const name of ['go.mod', 'go.sum']) files.set(name, await readFile(join(sources, name), 'utf8'));
  const binFolder = join(readClusterConfig().cacheFolder, 's3');
  const folder = join(binFolder, buildHash(files, [...args, program], `${process.platform}-${process.arch}`));
  const file = join(folder, 'versitygw');
  if (await isPresent(file)) return file;
  await mkdir(binFolder, { recursive: true });
  await progress.step('build an S3 server from Go modules', async (update) => {
    const wait = () => update('waiting for another process that builds it');
    await withLock(join(binFolder, 'lock'), wait, async () => {
      if (!(await isPresent(file))) await buildInto(folder, binFolder, update);
    });
  });
  return file;
}

async function buildInto(folder: string, binFolder: string, update: Update): Promise<void> {
  const unfinished = await mkdtemp(join(binFolder, 'unfinished-'));
  const log = join(binFolder, 'build.log');
  await rm(log, { force: true });
  try {
    await goBuild({ cwd: sources, args: [...args, `${unfinished}/`, program], log, update });
    await rename(unfinished, folder);
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true });
    const remedy = 'read the log; check that Go is there and reaches its module proxy (go env GOPROXY)';
    throw stepFailure('the S3 server could not be built', { cause, log, remedy });
  }
}

function isPresent(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
