/**
 * `npm run verify`: generates files, then checks types, lint, format, dead exports, imports, words and
 * commits. Fails if the work tree is dirty afterwards, which means that a generated file was not committed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeFinding, findTerms, isCovered, readGlossary } from './glossary.ts';
import { cycleProblems, importProblems } from './imports.ts';
import { bin, output, run, ROOT } from './run.ts';
import { commitProblems, wideComments } from './style.ts';

const HELP = `npm run verify

Regenerates the CRDs, their chart copies, JSON Schemas and the reference pages, then checks:
  types (tsc), lint (oxlint), format (biome), dead exports (knip), the import table (CONTRIBUTING.md),
  import cycles, words that docs/glossary.json replaces, the width of comments, the subjects of commits,
and that the work tree is as clean afterwards as it was before.`;

type Check = { name: string; passes: () => Promise<boolean>; remedy: string };

const succeeds = async (command: string, args: string[]) => (await run(command, args)) === 0;
const dirty = () => output('git', ['status', '--porcelain']);

function printed(problems: readonly string[]): boolean {
  for (const problem of problems) console.error(`  ${problem}`);
  return problems.length === 0;
}

/** The files that git tracks and that exist. */
async function trackedFiles(): Promise<string[]> {
  const [tracked, deleted] = await Promise.all([
    output('git', ['ls-files', '-z']),
    output('git', ['ls-files', '-z', '--deleted']),
  ]);
  const gone = new Set(deleted.split('\0'));
  return tracked.split('\0').filter((path) => path !== '' && !gone.has(path));
}

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

async function usesGlossary(): Promise<boolean> {
  const glossary = readGlossary(ROOT);
  const files = (await trackedFiles()).filter((path) => isCovered(path, glossary));
  const findings = files.flatMap((path) => findTerms(path, textOf(path), glossary.terms));
  const pendingOf = (path: string) => glossary.pending.find((each) => path.startsWith(each));
  for (const pending of glossary.pending) {
    const { length } = findings.filter(({ path }) => path.startsWith(pending));
    console.error(`  ${pending}: ${length} words to replace`);
  }
  return printed(findings.filter(({ path }) => pendingOf(path) === undefined).map(describeFinding));
}

async function commentsFit(): Promise<boolean> {
  const files = (await trackedFiles()).filter((path) => /\.(?:lua|mjs|tsx?)$/.test(path));
  const { pending } = readGlossary(ROOT);
  const checked = files.filter((path) => !pending.some((each) => path.startsWith(each)));
  return printed(
    checked.flatMap((path) => wideComments(textOf(path)).map((line) => `${path}:${line}: break the comment`)),
  );
}

const CHECKS: Check[] = [
  {
    name: 'generate',
    passes: () => succeeds(process.execPath, ['scripts/generate.ts']),
    remedy: 'fix the errors above',
  },
  {
    name: 'types',
    passes: async () =>
      (await succeeds(bin('tsc'), [])) && (await succeeds(bin('tsc'), ['-p', 'console/tsconfig.json'])),
    remedy: 'fix the types',
  },
  {
    name: 'lint',
    passes: () => succeeds(bin('oxlint'), ['--type-aware', '--deny-warnings', '--quiet']),
    remedy: 'fix the findings of oxlint',
  },
  { name: 'format', passes: () => succeeds(bin('biome'), ['format', '.']), remedy: 'run `npm run format`' },
  {
    name: 'dead exports',
    passes: () => succeeds(bin('knip'), ['--no-progress']),
    remedy: 'delete unused exports',
  },
  {
    name: 'import table',
    passes: () => Promise.resolve(printed(importProblems(ROOT))),
    remedy: 'move the code to where the table of the design admits it',
  },
  {
    name: 'import cycles',
    passes: () => Promise.resolve(printed(cycleProblems(ROOT))),
    remedy: 'move the shared code to a lower file or folder',
  },
  {
    name: 'glossary',
    passes: usesGlossary,
    remedy: 'use the terms of docs/glossary.md, or add a reason to docs/glossary.json',
  },
  { name: 'comment width', passes: commentsFit, remedy: 'break comments at 110 columns' },
  {
    name: 'commit subjects',
    passes: async () => printed(await commitProblems()),
    remedy: 'reword the commits: git rebase --interactive',
  },
];

async function main(): Promise<number> {
  const before = await dirty();
  const failed: Check[] = [];
  for (const check of CHECKS) {
    const started = performance.now();
    const passed = await check.passes();
    console.error(
      `${passed ? '✓' : '✗'} ${check.name} (${((performance.now() - started) / 1000).toFixed(1)} s)`,
    );
    if (!passed) failed.push(check);
  }
  const after = await dirty();
  if (after !== before) console.error(`✗ clean tree: these files changed, commit them:\n${after}`);
  for (const check of failed) console.error(`  ${check.name}: ${check.remedy}`);
  return failed.length === 0 && after === before ? 0 : 1;
}

if (process.argv.includes('--help')) console.log(HELP);
else process.exitCode = await main();
