/**
 * The two programs that build images: buildah, which needs no engine, and Docker. Both read the one
 * Containerfile.
 */
import { join } from 'node:path';
import { runCommand } from '../test/support/process/command.ts';

export const containerfile = join(import.meta.dirname, 'Containerfile');
const timeoutMs = 600_000;

/** An image to build: the folder `files` of the context over the base. */
export type Build = { reference: string; base: string; context: string; files: string };

export type Engine = {
  build(build: Build): Promise<void>;
  /** Writes the image as a docker archive, which must not be there yet. */
  save(reference: string, archive: string): Promise<void>;
};

function buildArguments({ reference, base, context, files }: Build): string[] {
  const values = ['--build-arg', `BASE=${base}`, '--build-arg', `FILES=${files}`];
  return ['--file', containerfile, '--tag', reference, ...values, context];
}

/** Whether a Docker engine answers within two seconds. */
export async function isDockerUsable(): Promise<boolean> {
  return runCommand('docker', ['info'], { timeoutMs: 2000 }).then(
    () => true,
    () => false,
  );
}

/** Docker, with bases from a registry; the images stay in its store. */
export function dockerEngine(): Engine {
  const docker = (...args: string[]) => runCommand('docker', args, { timeoutMs });
  return {
    build: async (build) => void (await docker('build', '--quiet', ...buildArguments(build))),
    save: async (reference, archive) => void (await docker('save', '--output', archive, reference)),
  };
}

/**
 * Buildah with its store in that folder. The driver `vfs` copies instead of mounting, so that nothing stays
 * mounted, on whatever file system the folder lies.
 */
export function buildahEngine(folder: string): Engine {
  const store = [
    '--root',
    join(folder, 'store'),
    '--runroot',
    join(folder, 'run'),
    '--storage-driver',
    'vfs',
  ];
  const buildah = (...args: string[]) => runCommand('buildah', [...store, ...args], { timeoutMs });
  return {
    build: async (build) =>
      void (await buildah(
        'build',
        '--isolation',
        'chroot',
        '--pull=never',
        '--quiet',
        ...buildArguments(build),
      )),
    save: async (reference, archive) =>
      void (await buildah('push', '--quiet', reference, `docker-archive:${archive}:${reference}`)),
  };
}
