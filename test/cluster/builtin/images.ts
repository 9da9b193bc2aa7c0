/** Gives images to the nodes without a registry. */
import { readFile, mkdir } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { runCommand } from '../../support/process/command.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { hashOf } from '../image-archive.ts';
import type { NodeLayout } from './layout.ts';
import { writeWhole } from './settings.ts';

/**
 * Imports the image of a `docker-archive` file on a node; one that was imported before from the same content
 * is left alone.
 */
export async function importImage(layout: NodeLayout, archivePath: string, reference: string): Promise<void> {
  const ctr = (args: string[]) =>
    runCommand('ctr', ['--address', layout.containerdSocket, '--namespace', 'k8s.io', ...args], {
      timeoutMs: 300_000,
    });
  const known = () => ctr(['images', 'list', '--quiet', `name==${reference}`]);
  const mark = join(
    layout.folder,
    'images',
    createHash('sha256').update(reference).digest('hex').slice(0, 16),
  );
  const content = await hashOf(archivePath);
  const before = await pollUntil('an answer of containerd', async () => ({ images: await known() }), {
    timeoutMs: 30_000,
  });
  if (before.images.includes(reference) && (await readFile(mark, 'utf8').catch(() => '')) === content) return;
  await ctr(['images', 'import', archivePath]);
  if (!(await known()).includes(reference)) throw new Error(`${archivePath} holds no image ${reference}`);
  await mkdir(join(layout.folder, 'images'), { recursive: true });
  await writeWhole(mark, content);
}
