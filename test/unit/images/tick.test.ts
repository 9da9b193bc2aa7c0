/** A tick starts at each time of a schedule, so that what it loads is paid again and again. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');

test('a tick loads neither the client of the API server, nor schemas, nor a logger', async () => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['runner/tick/main.ts'],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
  });
  const packages = Object.keys(metafile.inputs).flatMap((path) => {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
    return name === undefined ? [] : [name];
  });
  const loaded = new Set(packages);
  expect(loaded).toContain('ioredis');
  for (const heavy of ['@kubernetes/client-node', 'zod', 'pino', 'undici'])
    expect(loaded).not.toContain(heavy);
});
