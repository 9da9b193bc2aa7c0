/**
 * `npm run cli:bundle`: writes the command `windlass` as an npm package without dependencies into `dist/cli`,
 * and as one file, `dist/windlass.mjs`.
 */
import { readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundledCommandLine, bundledSingleFile } from '../images/bundle.ts';
import { layOut } from '../images/files.ts';
import { ROOT } from './run.ts';

const folder = join(ROOT, 'dist/cli');

/** What npm needs to know; the package has no dependencies. */
function packageFile(): object {
  const { version, license, description } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  ) as Record<string, string>;
  const bin = { windlass: 'windlass.mjs', 'kubectl-windlass': 'windlass.mjs' };
  return { name: 'windlass', version, license, description, type: 'module', bin, engines: { node: '>=24' } };
}

const fresh = `${folder}.new`;
await rm(fresh, { recursive: true, force: true });
const files = await bundledCommandLine();
await layOut(
  files.map((file) => ({ ...file, to: file.to.replace('/app/', '/') })),
  fresh,
);
await writeFile(join(fresh, 'package.json'), `${JSON.stringify(packageFile(), null, 2)}\n`);
await rm(folder, { recursive: true, force: true });
await rename(fresh, folder);
const single = join(ROOT, 'dist/windlass.mjs');
await writeFile(single, await bundledSingleFile(files), { mode: 0o755 });
console.log(`wrote ${files.length} files to dist/cli, and dist/windlass.mjs`);
