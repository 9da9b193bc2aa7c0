/** The GitHub Action (action.yml) and the hooks of pre-commit, by their own steps and entries. */
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { prepareAction } from '../../support/cli/actionSteps.ts';
import { runCommand } from '../../support/process/command.ts';
import { startGithub, type GithubServer } from '../../support/providers/github/githubServer.ts';

const root = join(import.meta.dirname, '../../..');
const TOKEN = 'token-of-the-job';

const DIFF =
  '**Changed** `Workflow/orders`\n\n```diff\n- spec.nodes[reply].code.source: "return \'old\'"\n+ spec.nodes[reply].code.source: "return \'new\'"\n```\n';

const workflow = (source: string) =>
  `apiVersion: windlass.dev/v1alpha1\nkind: Workflow\nmetadata: { name: orders }\nspec:\n  active: true\n  nodes:\n    - { id: start, manual: {} }\n    - { id: reply, code: { source: ${JSON.stringify(source)} } }\n`;

/** A repository that uses the action, with a change of a workflow after the commit `base`. */
async function makeCheckout(checkout: string) {
  const git = (...args: string[]) =>
    runCommand('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], { cwd: checkout });
  const commit = async (source: string) => {
    await writeFile(join(checkout, 'workflows/orders.yaml'), workflow(source));
    await git('add', '--all');
    await git('commit', '--quiet', '--message', 'Change orders');
    return (await git('rev-parse', 'HEAD')).trim();
  };
  await mkdir(join(checkout, 'workflows'), { recursive: true });
  await git('init', '--quiet');
  await git('remote', 'add', 'origin', checkout);
  await writeFile(join(checkout, 'other.yaml'), 'apiVersion: v1\nkind: Service\n');
  const base = await commit("return 'old'");
  await commit("return 'new'");
  return { base, git };
}

/** `bundle`: the files that `npm run cli:bundle` writes. */
export function testAction(bundle: () => string): void {
  let folder: string;
  let checkout: Awaited<ReturnType<typeof makeCheckout>>;
  let github: GithubServer;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windlass-action-'));
    github = await startGithub(TOKEN);
    checkout = await makeCheckout(join(folder, 'checkout'));
  });

  afterAll(async () => {
    await github?.close();
    if (folder) await rm(folder, { recursive: true });
  });

  async function fileWith(name: string, text: string): Promise<string> {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  }

  /** The steps of the action for a pull request, and the folder of their runner. */
  async function stepsFor(inputs: Record<string, string>) {
    const runner = await mkdtemp(join(folder, 'runner-'));
    const execute = await prepareAction({
      folder: runner,
      checkout: join(folder, 'checkout'),
      bundle: bundle(),
      inputs: { token: TOKEN, ...inputs },
      event: {
        'github.event.pull_request.base.sha': checkout.base,
        'github.event.pull_request.number': '7',
      },
      env: { GITHUB_API_URL: github.url, GITHUB_REPOSITORY: 'shop/workflows' },
    });
    return { execute, runner };
  }

  test('the step for lint passes for right manifests, and annotates what is wrong', async () => {
    const right = await stepsFor({ files: 'workflows other.yaml', strict: 'true' });
    expect(await right.execute('lint')).toBe('');
    const wrong = await stepsFor({ render: `cat ${await fileWith('wrong.yaml', workflow('return ('))}` });
    await expect(wrong.execute('lint')).rejects.toThrow(/status 1: ::error file=.*title=InvalidCode/);
  });

  test('the comment says what would change, and a later run replaces it', async () => {
    const { execute, runner } = await stepsFor({ files: 'workflows other.yaml' });
    await execute('compare');
    await execute('comment');
    expect(await readFile(join(runner, 'summary.md'), 'utf8')).toContain(DIFF);
    expect(github.comments).toEqual([expect.stringContaining(DIFF)]);
    const rendered = await stepsFor({ render: 'cat other.yaml' });
    await rendered.execute('compare');
    await rendered.execute('comment');
    expect(github.comments).toEqual([expect.stringContaining('No Windlass object would change.')]);
    expect(await checkout.git('worktree', 'list')).not.toContain('windlass-base');
  });

  test('a token that may not comment is a warning', async () => {
    const { execute, runner } = await stepsFor({ token: 'that-only-reads' });
    await writeFile(join(runner, 'windlass-changes.md'), 'a change');
    expect(await execute('comment')).toMatch(/^::warning title=windlass::cannot comment: \w+ .*403/);
  });

  test('the step for tests executes the cases', async () => {
    await fileWith('orders.yaml', workflow("return 'new'"));
    const cases = '- { name: says-new, data: {}, expect: [{ contains: new }] }\n';
    const { execute } = await stepsFor({ tests: await fileWith('orders.test.yaml', cases) });
    expect(await execute('test')).toContain('says-new');
  });

  type Hook = { id: string; entry: string; files: string };
  const hooks = parse(readFileSync(join(root, '.pre-commit-hooks.yaml'), 'utf8')) as Hook[];

  /** As pre-commit does for `language: script`: the entry is a file of this repository. */
  function executeHook(id: string, file: string): Promise<string> {
    const [program = '', ...args] = hooks.find((hook) => hook.id === id)?.entry.split(' ') ?? [];
    return runCommand(join(root, program), [...args, file], { cwd: join(folder, 'checkout') });
  }

  test('the hook for lint passes for files of others, and fails for a wrong manifest', async () => {
    expect(await executeHook('windlass-lint', 'other.yaml')).toBe('');
    const wrong = await fileWith('wrong.yaml', workflow('return ('));
    await expect(executeHook('windlass-lint', wrong)).rejects.toThrow('1 error and 0 warnings in 1 object');
  });

  test('each hook is for files of its command', () => {
    const matches = (path: string) =>
      hooks.filter(({ files }) => new RegExp(files).test(path)).map(({ id }) => id);
    expect(matches('workflows/orders.yaml')).toEqual(['windlass-lint']);
    expect(matches('workflows/orders.test.yaml')).toEqual(['windlass-lint', 'windlass-test']);
    expect(matches('orders.ts')).toEqual([]);
  });
}
