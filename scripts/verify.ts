/**
 * `npm run verify`: generates what is generated, then checks types, lint, format, dead exports and the import table, and
 * fails when the work tree is dirty afterwards, which means that a generated file was not committed.
 */
import { bin, output, run, ROOT } from './run.ts';
import { importProblems } from './imports.ts';

const HELP = `npm run verify

Regenerates the CRDs, their chart copies and the reference pages, then checks:
  types (tsc), lint (oxlint), format (biome), dead exports (knip), the import table (CONTRIBUTING.md),
and that the work tree is as clean afterwards as it was before.`;

type Check = { name: string; passes: () => Promise<boolean>; remedy: string };

const succeeds = async (command: string, args: string[]) => (await run(command, args)) === 0;
const dirty = () => output('git', ['status', '--porcelain']);

async function importTableHolds(): Promise<boolean> {
  const problems = importProblems(ROOT);
  for (const problem of problems) console.error(`  ${problem}`);
  return problems.length === 0;
}

const CHECKS: Check[] = [
  {
    name: 'generate',
    passes: () => succeeds(process.execPath, ['scripts/generate.ts']),
    remedy: 'mend what it says above',
  },
  {
    name: 'types',
    passes: async () =>
      (await succeeds(bin('tsc'), [])) && (await succeeds(bin('tsc'), ['-p', 'console/tsconfig.json'])),
    remedy: 'mend the types',
  },
  {
    name: 'lint',
    passes: () => succeeds(bin('oxlint'), ['--type-aware', '--deny-warnings', '--quiet']),
    remedy: 'mend what oxlint says',
  },
  { name: 'format', passes: () => succeeds(bin('biome'), ['format', '.']), remedy: 'run `npm run format`' },
  {
    name: 'dead exports',
    passes: () => succeeds(bin('knip'), ['--no-progress']),
    remedy: 'delete what nobody uses',
  },
  {
    name: 'import table',
    passes: importTableHolds,
    remedy: 'move the code to where the table of the design admits it',
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
