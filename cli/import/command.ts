/** `windlass import`. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { importN8n, REPORT, type ImportIo, type ImportResult } from '../n8n/import.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import type { Terminal } from '../shared/terminal.ts';

const FORMATS = ['n8n'];

/**
 * Converts workflows of another system into manifests. Fails if a file cannot be read as such a workflow;
 * those of the others are written all the same.
 */
export function execute({ values, options }: Invocation, terminal: Terminal): Promise<ExitCode> {
  const [format = '', ...paths] = values;
  if (!FORMATS.includes(format))
    throw new CommandError(EXIT.usage, `cannot import "${format}": it must be ${FORMATS.join(' or ')}`);
  if (paths.length === 0) throw new CommandError(EXIT.usage, 'name the files or folders to import');
  for (const path of paths) requireFile(path);
  const { outputDir, force } = options as { outputDir: string; force?: boolean };
  const texts = new Map<string, string>();
  const write = (path: string, text: string) => void texts.set(path, text);
  const result = importN8n(paths, outputDir, {
    ...FILES,
    write,
    onProgress: (done, all) => terminal.progress(`${done} of ${all} files converted`),
  });
  if (force !== true) refuseEdited(texts);
  for (const [path, text] of texts) writeText(path, text);
  tell(result, terminal);
  const isRefused = result.files.length === 0 || result.files.some(({ problem }) => problem !== undefined);
  return Promise.resolve(isRefused ? EXIT.failed : EXIT.ok);
}

function requireFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) === undefined)
    throw new CommandError(EXIT.input, `there is no file or folder ${path}`);
}

/** Files that the import would change. Its report is nobody's work. */
function refuseEdited(texts: ReadonlyMap<string, string>): void {
  const edited = [...texts].filter(([path, text]) => path.endsWith('.yaml') && differs(path, text));
  if (edited.length === 0) return;
  const names = edited.map(([path]) => path).join(', ');
  throw new CommandError(
    EXIT.input,
    `these files exist with another content: ${names}. Nothing was written: choose another --output-dir, or replace them with --force`,
  );
}

function differs(path: string, text: string): boolean {
  try {
    return readFileSync(path, 'utf8') !== text;
  } catch {
    // What cannot be written is reported when it is.
    return false;
  }
}

const FILES: Omit<ImportIo, 'write'> = {
  isFolder: (path) => statSync(path).isDirectory(),
  list: (folder) =>
    readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.json') && entry.name !== REPORT)
      .map((entry) => join(entry.parentPath, entry.name)),
  read: (path) => readFileSync(path, 'utf8'),
};

const UNWRITABLE: Readonly<Record<string, string>> = {
  EACCES: 'you may not write there',
  EEXIST: 'its folder is a file',
  EISDIR: 'it is a folder',
  ENOENT: 'this file system has no new folders',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is a file',
  EROFS: 'the file system is read-only',
};

function writeText(path: string, text: string): void {
  try {
    makeFolder(dirname(path));
    writeFileSync(path, text);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const why = UNWRITABLE[code] ?? code;
    throw new CommandError(EXIT.input, `cannot write ${path}: ${why}. Choose another --output-dir`, {
      cause: error,
    });
  }
}

/** One folder after the other: `recursive` never returns where the file system has no new folders (/proc). */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

function tell({ files, coverage, written }: ImportResult, terminal: Terminal): void {
  if (files.length === 0) terminal.tell('There is no JSON file in these folders.');
  for (const { file, problem } of files)
    if (problem !== undefined) terminal.tell(`${terminal.paint('red', '✗', 'stderr')} ${file}: ${problem}`);
  const { nodes, converted, review, manual } = coverage;
  for (const path of written) terminal.print(path);
  terminal.tell(
    `${nodes} nodes: ${converted} converted, ${review} review, ${manual} manual: see import-report.json`,
  );
}
