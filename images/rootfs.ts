/**
 * The files of the base images where no registry is available: programs of this machine with every library
 * that they load, and what a program without root needs around it.
 */
import { access, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../test/support/process/command.ts';
import type { ImageFile } from './files.ts';

const caCertificates = '/etc/ssl/certs/ca-certificates.crt';
const accounts: ImageFile[] = [
  {
    to: '/etc/passwd',
    content: 'root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n',
  },
  { to: '/etc/group', content: 'root:x:0:\nnonroot:x:65532:\n' },
];

/** Node as this process runs it, with name resolution and the certificate authorities. */
export async function nodeFiles(): Promise<ImageFile[]> {
  const libraries = await librariesOf([process.execPath]);
  return [
    ...accounts,
    { to: '/etc/nsswitch.conf', content: 'hosts: files dns\n' },
    { to: caCertificates, from: caCertificates },
    { to: '/usr/local/bin/node', from: process.execPath },
    ...[...libraries, ...(await resolversBeside(libraries))].map(inPlace),
  ];
}

/**
 * What the scripts of the chart run beside Redis (charts/windlass/files/redis): every base of the official
 * image has it.
 */
const SHELL =
  'sh cat cp cut date grep head mv rm sed sha1sum sha256sum sleep sort timeout touch tr uniq'.split(' ');

/** Redis of this machine, server and client, and a shell. */
export const redisFiles = () =>
  withLibraries(['redis-server', 'redis-cli', ...SHELL].map((name) => `/usr/bin/${name}`));

/**
 * Dovecot of this machine: the server with all its parts, among them the one that puts a mail into a mailbox,
 * and TLS, which it loads in any case.
 */
export async function dovecotFiles(): Promise<ImageFile[]> {
  const folder = '/usr/lib/dovecot';
  const parts = (await readdir(folder, { withFileTypes: true })).filter(
    (entry) => entry.isFile() && !entry.name.includes('.'),
  );
  return withLibraries([
    '/usr/sbin/dovecot',
    '/usr/bin/doveconf',
    ...parts.map(({ name }) => join(folder, name)),
    join(folder, 'modules/libssl_iostream_openssl.so'),
  ]);
}

async function withLibraries(programs: string[]): Promise<ImageFile[]> {
  const libraries = await librariesOf(programs);
  return [...accounts, ...[...programs, ...libraries].map(inPlace)];
}

const inPlace = (path: string): ImageFile => ({ to: path, from: path });

/** Every library that the programs load, once, as absolute paths. Throws when one is missing. */
async function librariesOf(programs: string[]): Promise<string[]> {
  const listing = await runCommand('ldd', await Promise.all(programs.map((path) => realpath(path))));
  const missing = listing.match(/^\s*(\S+) => not found/m);
  if (missing) throw new Error(`${programs.join(', ')} need ${missing[1]}, which this machine lacks`);
  const found = listing.matchAll(/(?:=>\s+|^\s*)(\/\S+)\s+\(0x/gm);
  return [...new Set(Array.from(found, ([, path = '']) => path))];
}

/** What libc loads by name when a host name is looked up, which is why ldd does not see it. */
async function resolversBeside(libraries: string[]): Promise<string[]> {
  const libc = libraries.find((path) => path.endsWith('/libc.so.6'));
  if (!libc) throw new Error('Node on this machine is not linked with glibc: use Debian, or a Docker engine');
  const paths = ['libnss_dns.so.2', 'libnss_files.so.2', 'libresolv.so.2'].map((name) =>
    libc.replace('libc.so.6', name),
  );
  for (const path of paths) await access(path);
  return paths;
}
