/**
 * How GitOps tools judge objects: kstatus by its own library, Argo CD by our health.lua in the interpreter
 * that Argo CD uses.
 */
import { join } from 'node:path';
import type { KubeObject } from '../../../kube/resource.ts';
import { runCommand } from '../process/command.ts';
import { ensureGoProgram } from './goProgram.ts';
import type { Progress } from '../process/progress.ts';

/** The health checks that docs/gitops.md offers. */
const HEALTH_LUA = join(import.meta.dirname, '../../../docs/gitops/health.lua');

export type Judgement = { kstatus: string; health: string; message: string };

/**
 * The program that judges, built when it is not there yet. Throws, with the place of the log, where that
 * fails.
 */
export function ensureGitopsJudge(progress: Progress): Promise<string> {
  const program = {
    title: 'kstatus',
    sources: join(import.meta.dirname, 'gitops'),
    package: '.',
    file: 'judge',
    cache: 'gitops',
  };
  return ensureGoProgram(program, progress);
}

/** What each of the objects is to kstatus and, by the script, to Argo CD. */
export async function judge(
  program: string,
  objects: readonly KubeObject[],
  script = HEALTH_LUA,
): Promise<Judgement[]> {
  const input = objects.map((object) => `${JSON.stringify(object)}\n`).join('');
  const answers = await runCommand(program, [script], { input });
  return answers
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Judgement);
}
