/** Programs keep in memory what they load before they need it, also while they are idle. */
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** The packages, or files of packages, that the program loads at its start. */
async function loadedBy(program: string): Promise<ReadonlySet<string>> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [program],
    bundle: true,
    packages: 'external',
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
  });
  const reached = new Set([program]);
  const packages = new Set<string>();
  for (const file of reached)
    for (const { path, external } of atStart(metafile, file)) (external ? packages : reached).add(path);
  return packages;
}

const atStart = ({ inputs }: Metafile, file: string) =>
  (inputs[file]?.imports ?? []).filter(({ kind }) => kind === 'import-statement');

test.each(['operator/main.ts', 'gateway/main.ts'])(
  '%s does not load the index of undici, of which it needs a part',
  async (program) => {
    const loaded = await loadedBy(program);
    expect(loaded).toContain('undici/lib/dispatcher/agent.js');
    expect(loaded).not.toContain('undici');
  },
);

test('a runner loads nothing of undici before a step needs it', async () => {
  const loaded = await loadedBy('runner/main.ts');
  expect(loaded.size).toBeGreaterThan(5);
  expect([...loaded].filter((name) => /^undici\b/.test(name))).toEqual([]);
});
