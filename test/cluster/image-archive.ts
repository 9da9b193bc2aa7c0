/** Packs a static program as the one layer of an image, in the form that `docker load` and containerd read. */
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { runCommand } from '../support/command.ts';

const platforms: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };

/** Writes an archive with the image of that reference, which runs the program, and holds nothing else. */
export async function writeProgramImage(program: string, reference: string, archive: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-image-'));
  try {
    const name = basename(program);
    await mkdir(join(folder, 'root'));
    await copyFile(program, join(folder, 'root', name));
    const layer = join(folder, 'layer.tar');
    await pack(layer, join(folder, 'root'), [name]);
    const layerHash = createHash('sha256')
      .update(await readFile(layer))
      .digest('hex');
    const config = JSON.stringify({
      architecture: platforms[process.arch] ?? process.arch,
      os: 'linux',
      config: { Entrypoint: [`/${name}`] },
      rootfs: { type: 'layers', diff_ids: [`sha256:${layerHash}`] },
    });
    await writeFile(join(folder, 'config.json'), config);
    const manifest = [{ Config: 'config.json', RepoTags: [reference], Layers: ['layer.tar'] }];
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
    await pack(archive, folder, ['manifest.json', 'config.json', 'layer.tar']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
  await runCommand('tar', [...reproducible, '--mode=0755', '-cf', archive, '-C', folder, ...names]);
}
