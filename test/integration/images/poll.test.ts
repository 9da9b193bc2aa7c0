/**
 * A poll pod starts each minute and mostly finds nothing due, so that what it loads before it knows is paid
 * again and again.
 */
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');

test('before something is due a poll pod loads neither the API server client, nor schemas, nor what reads mail', async () => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['runner/pollPod/main.ts'],
    outdir: '/app',
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
  });
  const seen = new Set<string>();
  const follow = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { path: next, kind } of metafile.outputs[path]?.imports ?? [])
      if (kind === 'import-statement') follow(next);
  };
  const entry = Object.entries(metafile.outputs).find(
    ([, { entryPoint }]) => entryPoint === 'runner/pollPod/main.ts',
  );
  follow(entry?.[0] ?? '');
  const loaded = [...seen].flatMap((path) => Object.keys(metafile.outputs[path]?.inputs ?? {}));
  const packages = new Set(
    loaded.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
  );
  expect(packages).toContain('ioredis');
  for (const heavy of ['@kubernetes/client-node', 'zod', 'pino', 'undici', 'imapflow', 'postal-mime'])
    expect(packages).not.toContain(heavy);
});
