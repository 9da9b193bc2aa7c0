/** What a patch of `test/mutants/` says: which promise it breaks, and the test that must notice. */
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

export type Mutant = {
  name: string;
  /** What goes wrong, in a sentence. */
  breaks: string;
  /** The path of the test's file, and the test's own name. */
  file: string;
  test: string;
  patch: string;
};

const HEAD = /^(?<breaks>.+)\n\nKilled by: (?<file>\S+)\nTest: (?<test>.+)\n\ndiff --git /;

/**
 * The mutants of a folder, in the order of their names. Throws for a patch without the lines that name its
 * test.
 */
export function readMutants(folder: string): Mutant[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.patch'));
  return files.toSorted().map((file) => parseMutant(join(folder, file)));
}

function parseMutant(patch: string): Mutant {
  const name = basename(patch, '.patch');
  const { breaks, file, test } = HEAD.exec(readFileSync(patch, 'utf8'))?.groups ?? {};
  if (breaks === undefined || file === undefined || test === undefined) {
    const form = 'a sentence, an empty line, "Killed by: FILE", "Test: NAME", an empty line, and the diff';
    throw new Error(`${name}.patch must begin with ${form}`);
  }
  return { name, breaks, file, test, patch };
}
