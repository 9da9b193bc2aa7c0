/**
 * Measures the import of n8n workflows over a folder of exports:
 * `node test/n8n/measure.ts FOLDER [--every=4] [--details]`, over each file or every fourth one. Each file is
 * linted as `windlass lint` does it. Prints the table of docs/import-n8n.md; with `--details` the notes by
 * how often they occur, and the nodes that alone keep workflows from having nothing manual.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { convertN8n, type ImportReport } from '../../cli/n8n/convert.ts';
import { Linter } from '../../cli/lint/lint.ts';

type Tally = Map<string, number>;
const add = (tally: Tally, key: string) => tally.set(key, (tally.get(key) ?? 0) + 1);
const share = (part: number, whole: number) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
const largest = (tally: Tally, most: number) =>
  [...tally].toSorted(([, one], [, other]) => other - one).slice(0, most);

const [folder = '.', ...flags] = process.argv.slice(2);
const every = Number(flags.find((flag) => flag.startsWith('--every='))?.slice('--every='.length) ?? 1);
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
  .map((entry) => join(entry.parentPath, entry.name))
  .toSorted()
  .filter((_, index) => index % every === 0);

const reports: ImportReport['workflows'] = [];
const reasons: Tally = new Map();
const blockers: Tally = new Map();
const problems: string[] = [];
let skipped = 0;
let documents = 0;
let elapsed = 0;

for (const file of files) {
  const json = parse(readFileSync(file, 'utf8'));
  const started = process.cpuUsage();
  const { documents: made, report } = convertN8n(json);
  const { user, system } = process.cpuUsage(started);
  elapsed += (user + system) / 1000;
  if (report.problem !== undefined) skipped += 1;
  reports.push(...report.workflows);
  documents += made.length;
  const linter = new Linter();
  for (const { yaml, metadata } of made) linter.add({ file: metadata.name, text: yaml });
  const { findings } = await linter.finish();
  const errors = findings.filter(({ severity }) => severity === 'error');
  problems.push(...errors.map((finding) => `${file}: ${finding.file}: ${finding.message}`));
  for (const workflow of report.workflows) tally(workflow);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function tally({ nodes }: ImportReport['workflows'][number]): void {
  const short = (type: string) => type.split('.').at(-1);
  for (const { type, state, notes } of nodes)
    for (const note of state === 'converted' ? [] : notes)
      add(reasons, `${state} ${short(type)}: ${note.replaceAll(/"[^"]*"/g, '…').slice(0, 110)}`);
  const [only, ...others] = new Set(
    nodes
      .filter(({ state }) => state === 'manual')
      .map(({ type, notes }) => `${short(type)}: ${notes[0]?.replaceAll(/"[^"]*"/g, '…').slice(0, 90)}`),
  );
  if (only !== undefined && others.length === 0) add(blockers, only);
}

const nodes = reports.flatMap((report) => report.nodes);
const neverRun = nodes.filter(({ notes }) => notes.some((note) => note.startsWith('it never runs')));
const count = (state: string) => nodes.filter((node) => node.state === state).length;
const complete = reports.filter(({ coverage }) => coverage.manual === 0).length;
const clean = reports.filter(({ coverage }) => coverage.manual === 0 && coverage.review === 0).length;
console.log(
  `files ${files.length}, of them no workflow ${skipped}; workflows ${reports.length}, documents ${documents}`,
);
console.log(
  `nodes ${nodes.length}: converted ${share(count('converted'), nodes.length)}, review ${share(count('review'), nodes.length)}, manual ${share(count('manual'), nodes.length)}`,
);
console.log(`converted nodes that never run in n8n ${share(neverRun.length, nodes.length)}`);
console.log(
  `workflows with nothing manual ${share(complete, reports.length)}, with all nodes converted ${share(clean, reports.length)}`,
);
console.log(`errors of lint ${problems.length}; conversion ${(elapsed / 1000).toFixed(1)} s of CPU time`);
for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`);
if (flags.includes('--details')) {
  for (const [key, value] of largest(reasons, 250)) console.log(value, key);
  console.log('the only kind of manual node of a workflow:');
  for (const [key, value] of largest(blockers, 80)) console.log(value, key);
}
