/** Argo CD's own test of health scripts, over the folders of docs/gitops/resource_customizations. */
import { cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runGo } from '../cluster/build.ts';
import { makeFolder } from '../support/process/folder.ts';
import { runCommand } from '../support/process/command.ts';
import { stepFailure, type Progress } from '../support/process/progress.ts';

const MODULE = 'github.com/argoproj/argo-cd/v3';
export const ARGO_CD_VERSION = 'v3.1.16';
/** As go.sum would have it. */
const HASH = 'h1:ufzj0c7CWKoMW03lOV8F6jwIW6YDPPZWI4PTHxz8Qq0=';
const TEST = 'TestLuaHealthScript';
const OURS = 'windlass.dev';
const customizations = join(import.meta.dirname, '../../docs/gitops/resource_customizations');

/**
 * Puts our health scripts into a copy of Argo CD's repository, in place of its own, and executes its test.
 * Returns how many of our cases passed. Throws with what the test printed where one fails.
 */
export async function testHealthScripts(progress: Progress): Promise<number> {
  const folder = await makeFolder('argo-cd');
  try {
    await checkout(folder.path);
    const lines: string[] = [];
    await progress.step(`execute ${TEST} of Argo CD ${ARGO_CD_VERSION}`, (update) => {
      update('compiling');
      const args = ['test', '-trimpath', '-v', '-count=1', '-run', `^${TEST}$`, './util/lua'];
      return runGo(args, { cwd: folder.path, onLine: (line) => lines.push(line) });
    });
    const passed = lines.filter((line) => line.includes(`--- PASS: ${TEST}/`)).length;
    const expected = await casesOf();
    if (passed !== expected) throw new Error(`${passed} of ${expected} cases passed:\n${lines.join('\n')}`);
    return passed;
  } catch (cause) {
    const remedy =
      'correct health.lua or health_test.yaml of the case that failed; ' +
      'if none was executed, check that Go is installed and reaches its module proxy (go env GOPROXY)';
    throw stepFailure("Argo CD's test of health scripts failed", { cause, remedy });
  } finally {
    folder.remove();
  }
}

/** Files of the module cache are read-only, and `cp` gives them the modes of new files. */
async function checkout(folder: string): Promise<void> {
  const args = ['mod', 'download', '-json', `${MODULE}@${ARGO_CD_VERSION}`];
  const answer = await runGo(args, { cwd: folder });
  const { Dir, Sum } = JSON.parse(answer) as { Dir: string; Sum: string };
  if (Sum !== HASH)
    throw new Error(`the module ${MODULE} ${ARGO_CD_VERSION} has the hash ${Sum}, not ${HASH}`);
  await runCommand('cp', ['--recursive', '--no-preserve=mode', `${Dir}/.`, folder]);
  const theirs = join(folder, 'resource_customizations');
  for (const entry of await readdir(theirs, { withFileTypes: true }))
    if (entry.isDirectory()) await rm(join(theirs, entry.name), { recursive: true });
  await cp(join(customizations, OURS), join(theirs, OURS), { recursive: true });
}

/** Each object in a folder `testdata` is a case: test/integration/gitops.test.ts compares both lists. */
async function casesOf(): Promise<number> {
  const files = await readdir(join(customizations, OURS), { recursive: true });
  return files.filter((path) => /testdata\/.*\.yaml$/.test(path)).length;
}
