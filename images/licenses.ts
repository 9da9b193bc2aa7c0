/** The notices of the libraries and icons that a bundle contains: their licences ask for them. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const PACKAGE = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//;
const NOTICE = /^(licen[cs]e|copying|notice)/i;

/** The names of the packages of these modules, sorted. */
export function packagesOf(modules: readonly string[]): string[] {
  const names = modules.flatMap((path) => PACKAGE.exec(path)?.[1] ?? []);
  return [...new Set(names)].toSorted();
}

/** One text with the name, version, licence and notice of each package of these modules. */
export async function noticesOf(modules: readonly string[]): Promise<string> {
  const notices = await Promise.all(packagesOf(modules).map(noticeOf));
  return `${HEAD}\n${notices.join('\n')}`;
}

const HEAD = `The console of Windlass contains these libraries and icons. Names and logos of services belong to their
owners.
`;

async function noticeOf(name: string): Promise<string> {
  const folder = join(ROOT, 'node_modules', name);
  const { version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const files = (await readdir(folder)).filter((file) => NOTICE.test(file)).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const title = `${name} ${version} (${license})`;
  return `${'='.repeat(80)}\n${title}\n\n${texts.map((text) => text.trim()).join('\n\n')}\n`;
}
