/** Imports files and folders of n8n exports. Reads and writes through `io`; a bad file stops no other. */
import { basename, join } from 'node:path';
import type { CredentialSpec } from '../../api/credential.ts';
import { type ImportReport, type ImportedDocument, convertN8n, namesOf } from './convert.ts';
import { readExport } from './model/read.ts';
import { printable } from '../shared/text.ts';
import { type Coverage, coverageOf } from './report/reports.ts';

/** What the import needs of a file system. */
export type ImportIo = {
  isFolder: (path: string) => boolean;
  /** The paths of the JSON files in a folder, at any depth. */
  list: (folder: string) => string[];
  /** @throws if the file cannot be read */
  read: (path: string) => string;
  write: (path: string, text: string) => void;
  /** Called before each file, with the number of those that were converted. */
  onProgress?: (done: number, all: number) => void;
};

type FileReport = ImportReport & { file: string };

export type ImportResult = {
  files: FileReport[];
  coverage: Coverage;
  /** The paths of the files that were written. */
  written: string[];
};

/** The name of the report, which is no export. */
export const REPORT = 'import-report.json';
const MAX_CHARACTERS = 64 * 1024 * 1024;

/**
 * Converts every export and writes one YAML file for each Workflow and Credential into the folder `out`,
 * beside `import-report.json` with the state of every node. Files refer to each other's workflows.
 */
export function importN8n(paths: readonly string[], out: string, io: ImportIo): ImportResult {
  const files = paths.flatMap((path) => (io.isFolder(path) ? io.list(path).toSorted() : [path]));
  const read = files.map((file) => ({ file, ...parse(file, io) }));
  const workflowNames = new Map(
    read.flatMap(({ file, json }) => (json === undefined ? [] : namesIn(json, file))),
  );
  const documents = new Map<string, ImportedDocument>();
  const reports = read.map(({ file, json, problem }, index): FileReport => {
    io.onProgress?.(index, read.length);
    if (problem !== undefined) return { file, workflows: [], coverage: coverageOf([]), problem };
    const { documents: made, report } = convertN8n(json, { fallbackName: nameOf(file), workflowNames });
    for (const document of made) keep(documents, document);
    return { file, ...report };
  });
  const coverage = coverageOf(reports.flatMap(({ workflows }) => workflows.flatMap(({ nodes }) => nodes)));
  const written = [...documents].map(([path, { yaml }]) => {
    io.write(join(out, path), yaml);
    return join(out, path);
  });
  io.write(join(out, REPORT), `${JSON.stringify({ coverage, files: reports }, undefined, 2)}\n`);
  return { files: reports, coverage, written: [...written, join(out, REPORT)] };
}

const nameOf = (file: string): string => basename(file).replace(/\.json$/i, '');

function parse(file: string, io: ImportIo): { json?: unknown; problem?: string } {
  try {
    const text = io.read(file);
    if (text.length > MAX_CHARACTERS) return { problem: 'the file has more than 64 Mi characters' };
    return { json: JSON.parse(text.replace(/^\uFEFF/, '')) };
  } catch (error) {
    return {
      problem:
        error instanceof SyntaxError
          ? `the file is no JSON: ${printable(error.message)}`
          : `the file cannot be read: ${error instanceof Error ? error.message : ''}`,
    };
  }
}

function namesIn(json: unknown, file: string): [string, string][] {
  const found = readExport(json, nameOf(file));
  return 'problem' in found ? [] : [...namesOf(found.workflows)];
}

/** Credentials of one name are one account. A second workflow of a name gets a number. */
function keep(documents: Map<string, ImportedDocument>, document: ImportedDocument): void {
  const base = `${document.kind.toLowerCase()}-${document.metadata.name}`;
  const path = `${base}.yaml`;
  const known = documents.get(path);
  if (document.kind === 'Credential' && known?.kind === 'Credential') {
    if (hostsOf(document.spec).length > hostsOf(known.spec).length) documents.set(path, document);
    return;
  }
  let free = path;
  for (let count = 2; documents.has(free); count += 1) free = `${base}-${count}.yaml`;
  documents.set(free, document);
}

const hostsOf = ({ http }: CredentialSpec): readonly string[] => http?.allowedHosts ?? [];
