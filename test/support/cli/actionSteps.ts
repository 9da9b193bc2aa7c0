/** Executes steps of the GitHub Action (action.yml) in bash, as its runner does. */
import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { runCommand } from '../process/command.ts';

const root = join(import.meta.dirname, '../../..');

type Step = { id?: string; run?: string; env?: Record<string, string> };
type Action = { inputs: Record<string, { default: string }>; runs: { steps: Step[] } };

const action = parse(readFileSync(join(root, 'action.yml'), 'utf8')) as Action;

export type ActionOptions = {
  /** An empty folder for what a runner has. */
  folder: string;
  /** Where the repository that uses the action is checked out. */
  checkout: string;
  /** The files that `npm run cli:bundle` writes. */
  bundle: string;
  inputs?: Record<string, string>;
  /** Values of expressions such as `github.event.pull_request.number`. */
  event?: Record<string, string>;
  /** Further variables of the runner. */
  env?: Record<string, string>;
};

/** Gives a function that executes the step with that ID, and resolves to what it prints. */
export async function prepareAction(options: ActionOptions): Promise<(id: string) => Promise<string>> {
  const { folder, checkout, bundle, inputs = {}, event = {}, env = {} } = options;
  const path = join(folder, 'action');
  await mkdir(join(path, 'dist'), { recursive: true });
  await symlink(bundle, join(path, 'dist/cli'));
  await symlink(join(root, 'scripts'), join(path, 'scripts'));
  await writeFile(join(folder, 'summary.md'), '');
  const variables = {
    ...process.env,
    GITHUB_ACTION_PATH: path,
    GITHUB_STEP_SUMMARY: join(folder, 'summary.md'),
    RUNNER_TEMP: folder,
    ...env,
  };
  const valueOf = (expression: string) => {
    const [, input] = /^inputs\.(\w+)$/.exec(expression) ?? [];
    const value = input === undefined ? event[expression] : (inputs[input] ?? action.inputs[input]?.default);
    if (value === undefined) throw new Error(`the test has no value of ${expression}`);
    return value;
  };
  const evaluate = (text: string) =>
    text.replaceAll(/\$\{\{ (\S+) \}\}/g, (_, expression: string) => valueOf(expression));
  return (id) => {
    const step = action.runs.steps.find((each) => each.id === id);
    if (step?.run === undefined) throw new Error(`action.yml has no step ${id}`);
    const given = Object.entries(step.env ?? {}).map(([name, text]) => [name, evaluate(text)]);
    return runCommand('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run], {
      cwd: checkout,
      env: { ...variables, ...(Object.fromEntries(given) as Record<string, string>) },
    });
  };
}
