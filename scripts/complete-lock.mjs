// Adds to package-lock.json the packages for other platforms that an `npm install` could not see (a registry mirror
// that carries one platform only leaves them out, and `npm ci` then refuses the lock file). Run it after a change of
// dependencies: `node scripts/complete-lock.mjs`.
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

let added = 0;
for (const entry of Object.values({ ...packages })) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    if (packages[path]) continue;
    packages[path] = { version, ...platformOf(name), dev: true, optional: true };
    added += 1;
  }
}
lock.packages = Object.fromEntries(Object.entries(packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
console.log(`package-lock.json: ${added} packages for other platforms added`);
