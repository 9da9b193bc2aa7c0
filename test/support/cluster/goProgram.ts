/**
 * Builds a program from Go modules into the cache folder of the user, once for each state of its sources:
 * complete or absent, also when it is stopped in the middle or started twice.
 */
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildHash, goBuild } from '../../cluster/build.ts';
import { readClusterConfig } from '../../cluster/config.ts';
import { withLock } from '../process/lock.ts';
import { stepFailure, type Progress, type Update } from '../process/progress.ts';

export type GoProgram = {
  /** In a sentence such as "build …". */
  title: string;
  /** With go.mod, go.sum and, if it is ours, the program. */
  sources: string;
  /** The package to build. */
  package: string;
  file: string;
  /** The folder below that of the cache. */
  cache: string;
};

const args = ['build', '-trimpath', '-ldflags', '-s -w', '-o'];

/**
 * The program's file, built when it is not there yet (a minute on two cores). Throws, with the place of the
 * log, where that fails.
 */
export async function ensureGoProgram(program: GoProgram, progress: Progress): Promise<string> {
  const files = new Map<string, string>();
  for (const name of (await readdir(program.sources)).filter((name) => /^go\.|\.go$/.test(name)))
    files.set(name, await readFile(join(program.sources, name), 'utf8'));
  const binFolder = join(readClusterConfig().cacheFolder, program.cache);
  const machine = `${process.platform}-${process.arch}`;
  const folder = join(binFolder, buildHash(files, [...args, program.package], machine));
  const file = join(folder, program.file);
  if (await isPresent(file)) return file;
  await mkdir(binFolder, { recursive: true });
  await progress.step(`build ${program.title} from Go modules`, async (update) => {
    const wait = () => update('waiting for another process that builds it');
    await withLock(join(binFolder, 'lock'), wait, async () => {
      if (!(await isPresent(file))) await buildInto(folder, binFolder, { program, update });
    });
  });
  return file;
}

type Building = { program: GoProgram; update: Update };

async function buildInto(folder: string, binFolder: string, { program, update }: Building): Promise<void> {
  const unfinished = await mkdtemp(join(binFolder, 'unfinished-'));
  const log = join(binFolder, 'build.log');
  await rm(log, { force: true });
  try {
    const all = [...args, join(unfinished, program.file), program.package];
    await goBuild({ cwd: program.sources, args: all, log, update });
    await rename(unfinished, folder);
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true });
    const remedy = 'read the log; check that Go is there and reaches its module proxy (go env GOPROXY)';
    throw stepFailure(`${program.title} could not be built`, { cause, log, remedy });
  }
}

function isPresent(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
