/** Which version of this repository runs, for what is written down of it. */
import { join } from 'node:path';
import { runCommand } from './command.ts';

const root = join(import.meta.dirname, '../../..');

/** The hash of the commit, with `+changes` where files of it are changed. */
export async function commitHash(): Promise<string> {
  const [head, changes] = await Promise.all([
    runCommand('git', ['rev-parse', 'HEAD'], { cwd: root }),
    runCommand('git', ['status', '--porcelain', '--untracked-files=no'], { cwd: root }),
  ]);
  return head.trim() + (changes.trim() === '' ? '' : '+changes');
}
