// Makes package-lock.json complete, whatever the registry mirror carries: the packages for other platforms
// that an `npm install` could not see (`npm ci` refuses a lock file without them), and the hash of each
// package, without which `npm ci` takes whatever it is sent. Run it after a change of dependencies: `node
// scripts/complete-lock.mjs`. It fails where a package has no hash yet.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const OPERATING_SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const PROCESSORS = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64'];

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const packages = lock.packages;

function platformOf(name) {
  const os =
    OPERATING_SYSTEMS.find((os) => name.includes(os)) ?? (name.includes('wasm') ? 'none' : undefined);
  const cpu = PROCESSORS.find((cpu) => name.includes(cpu)) ?? (name.includes('wasm') ? 'wasm32' : undefined);
  if (!os || !cpu) throw new Error(`${name} names no platform: add it to package-lock.json by hand`);
  return { os: [os], cpu: [cpu] };
}

/** What the registry says of the package; empty where it does not have this version. */
function integrityOf(name, version) {
  const args = ['view', `${name}@${version}`, 'dist.integrity'];
  try {
    return execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}

let added = 0;
for (const entry of Object.values({ ...packages })) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    if (packages[path]) continue;
    packages[path] = { version, ...platformOf(name), dev: true, optional: true };
    added += 1;
  }
}

const unknown = [];
for (const [path, entry] of Object.entries(packages)) {
  if (path === '' || entry.integrity) continue;
  const name = entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const integrity = integrityOf(name, entry.version);
  if (integrity === '') unknown.push(`${name}@${entry.version}`);
  else packages[path] = { version: entry.version, integrity, ...entry };
}
lock.packages = Object.fromEntries(Object.entries(packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
console.log(`package-lock.json: ${added} packages for other platforms added`);
if (unknown.length > 0) {
  console.error(
    `The registry has no hash of ${unknown.join(', ')}: take a version that it has for all platforms.`,
  );
  process.exitCode = 1;
}
