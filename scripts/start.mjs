#!/usr/bin/env node
// Runs a TypeScript program of this repository with Node 24, and needs nothing but npm before it:
// it installs the locked dependencies when they are missing or stale, then hands over.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.windlass-lock');
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(process.arch)
  .digest('hex');

function installed() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
}

function install() {
  console.error('› installing the npm packages of package-lock.json (about 30 s the first time)');
  const started = Date.now();
  const result = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (result.status !== 0) {
    console.error(
      '✗ npm ci failed. Its messages are above; check that npm reaches its registry, then run this again.',
    );
    process.exit(1);
  }
  writeFileSync(stamp, wanted);
  console.error(`✓ npm packages installed (${Math.round((Date.now() - started) / 1000)} s)`);
}

/**
 * The Node 24 that package-lock.json pins; the machine's own when it is of that line and no package exists
 * for it.
 */
function node24() {
  const packaged = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  if (existsSync(packaged)) return packaged;
  if (process.versions.node.startsWith('24.')) return process.execPath;
  console.error(
    `✗ Windlass needs Node.js 24, this is ${process.version}, and no packaged one exists for ` +
      `${process.platform}-${process.arch}. Install Node.js 24 and run this again.`,
  );
  process.exit(1);
}

const [program, ...args] = process.argv.slice(2);
if (!installed()) install();
const node = node24();
const child = spawn(node, ['--disable-warning=ExperimentalWarning', join(root, program), ...args], {
  stdio: 'inherit',
  env: {
    // What Node has compiled it need not compile again, which is half of the time in which a program starts.
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'),
    ...process.env,
    PATH: `${dirname(node)}:${process.env.PATH}`,
  },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
// A signal that ends npm ends its shell, too, which does not pass it on.
if (process.env.npm_lifecycle_event !== undefined) {
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    child.kill('SIGTERM');
  }, 1_000);
}
child.on('exit', (code, signal) => process.exit(signal ? 128 + 15 : (code ?? 1)));
