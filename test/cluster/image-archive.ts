/** Packs files as the one layer of an image, in the form that `docker load` and containerd read. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { runCommand } from '../support/process/command.ts';

const platforms: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };

/**
 * Writes an archive with the image of that reference, which runs the static program, and holds nothing else.
 */
export async function writeProgramImage(program: string, reference: string, archive: string): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'windlass-image-'));
  try {
    await copyFile(program, join(root, basename(program)));
    await writeImage({ root, entrypoint: [`/${basename(program)}`], reference }, archive);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Writes an archive with an image of all that lies below the folder `root`. */
export async function writeImage(
  image: { root: string; entrypoint: string[]; reference: string },
  archive: string,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-image-'));
  try {
    const layer = join(folder, 'layer.tar');
    await pack(layer, image.root, ['.']);
    const config = JSON.stringify({
      architecture: platforms[process.arch] ?? process.arch,
      os: 'linux',
      config: { Entrypoint: image.entrypoint },
      rootfs: { type: 'layers', diff_ids: [`sha256:${await hashOf(layer)}`] },
    });
    const manifest = [{ Config: 'config.json', RepoTags: [image.reference], Layers: ['layer.tar'] }];
    await writeFile(join(folder, 'config.json'), config);
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
    await pack(archive, folder, ['manifest.json', 'config.json', 'layer.tar']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The SHA-256 of a file, in hexadecimal. */
export async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

async function pack(archive: string, folder: string, names: string[]): Promise<void> {
  const reproducible = [
    '--sort=name',
    '--mtime=@0',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--format=gnu',
  ];
  await runCommand('tar', [...reproducible, '--mode=a+rX', '-cf', archive, '-C', folder, ...names]);
}
