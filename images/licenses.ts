/** The notices of the libraries and icons that a bundle contains: their licences ask for them. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** From the first `node_modules` of a path to the package in its last one. */
const PACKAGE = /(?:^|\/)(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//;
const NOTICE = /^(licen[cs]e|copying|notice)/i;

/** The folders of the packages of these modules, also of packages inside of others. */
export function packagesOf(modules: readonly string[]): string[] {
  return [...new Set(modules.flatMap((path) => PACKAGE.exec(path)?.[1] ?? []))];
}

/** One text with the name, version, licence and notice of each package of these modules, sorted by name. */
export async function noticesOf(modules: readonly string[]): Promise<string> {
  const notices = await Promise.all(packagesOf(modules).map(noticeOf));
  // Several packages may bring the same version of one.
  return `${HEAD}\n${[...new Set(notices)].toSorted().join('\n')}`;
}

const HEAD = `The console of Windlass contains these libraries and icons. Names and logos of services belong to their
owners.
`;

async function noticeOf(path: string): Promise<string> {
  const folder = join(ROOT, path);
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const files = (await readdir(folder)).filter((file) => NOTICE.test(file)).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const title = `${name} ${version} (${license})`;
  return `${'='.repeat(80)}\n${title}\n\n${texts.map((text) => text.trim()).join('\n\n')}\n`;
}
