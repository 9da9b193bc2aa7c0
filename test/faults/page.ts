/** Writes the report of a fault run: JSON for programs, a page of Markdown for people. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { KindSummary, Report, ReportContext } from './report.ts';
import { stormLines } from './storm/page.ts';

/** The report as Markdown. */
export function pageOf(report: Report): string {
  const { events, runs, effects, watch, machine } = report;
  const answers = Object.entries(events.answers).toSorted(([, a], [, b]) => b - a);
  const lines = [
    `# ${events.sent.toLocaleString('en')} events, ${report.faults.length} faults`,
    '',
    `${report.date.slice(0, 10)}, ${machine.cpus} cores, ${machine.memoryGiB} GiB; ${seedOf(report)}${report.rate} events a second, ` +
      `${Math.round(report.seconds / 60)} min. ${verdict(report)}`,
    '',
    `\`${report.command}\`, commit ${report.commit.slice(0, 12)}.`,
    '',
    '| | |',
    '| --- | --- |',
    `| events sent, each until it was accepted | ${events.sent} |`,
    `| accepted | ${events.accepted} |`,
    `| that deserved a refusal, and got it | ${events.refused} |`,
    `| sent more than once | ${events.repeated} |`,
    `| answers, and what came instead | ${answers.map(([name, count]) => `${name}: ${count}`).join(', ')} |`,
    `| runs succeeded | ${runs.succeeded} |`,
    `| runs failed | ${runs.failed}, of them ${runs.unknownEffects} because an effect may have happened that is never repeated |`,
    ...Object.entries(effects).map(([kind, { seen, repeated }]) => {
      return `| effects of kind ${kind} | ${seen}, of them ${repeated} repeated under the same key |`;
    }),
    `| WorkflowRuns watched | ${watch.objects}, with ${watch.gaps} gaps |`,
    `| promises broken | ${report.violations.length} |`,
    ...faultLines(report),
    ...stormLines(report),
    ...measureLines(report),
  ];
  const violations = report.violations.slice(0, 20).map(({ kind, message }) => `- ${kind}: ${message}`);
  if (violations.length > 0) lines.push('', '## Broken', '', ...violations);
  return `${lines.join('\n')}\n`;
}

function faultLines({ kinds, storm }: Report): string[] {
  if (kinds.length === 0 || storm) return [];
  return [
    '',
    'Seconds from the beginning of a fault: until an event that was sent after it was accepted, and until nothing waited any more.',
    '',
    '| fault | times | least load before, per s | accepted again: median | longest | nothing waits: median | longest |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...kinds.map(rowOf),
  ];
}

function measureLines({ measures }: Report): string[] {
  if (measures.length === 0) return [];
  return [
    '',
    '| measured | seen | promised |',
    '| --- | --- | --- |',
    ...measures.map(({ what, seen, promised = '' }) => `| ${what} | ${seen} | ${promised} |`),
  ];
}

const seedOf = ({ seed }: Report): string => (seed === undefined ? '' : `seed ${seed}, `);

function verdict({ violations, invalid }: Report): string {
  if (violations.length > 0) return `**${violations.length} promises were broken.**`;
  if (invalid !== undefined) return `**It does not count: ${invalid}.**`;
  return 'Nothing lost, nothing twice, no terminal phase changed.';
}

function rowOf({ kind, times, leastLoad, firstAccepted, backlogEnded }: KindSummary): string {
  const cells = [firstAccepted.median, firstAccepted.longest, backlogEnded.median, backlogEnded.longest];
  return `| ${kind} | ${times} | ${leastLoad} | ${cells.map((value) => value?.toFixed(1) ?? 'never').join(' | ')} |`;
}

/** A page of other results than those of a fault run: who made it, then the lines. */
export async function writePage(
  path: string,
  title: string,
  { date, command, commit }: Pick<ReportContext, 'date' | 'command' | 'commit'>,
  lines: readonly string[],
): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  const made = `${date.toISOString().slice(0, 10)}, \`${command}\`, commit ${commit.slice(0, 12)}.`;
  const text = [`# ${title}`, '', made, '', ...lines].join('\n');
  await writeFile(`${path}.md`, `${text}\n`);
  return `${path}.md`;
}

/** Writes `PATH.json` and `PATH.md`; gives the path of the page. */
export async function writeReport(path: string, report: Report): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.json`, `${JSON.stringify(report, undefined, 2)}\n`);
  await writeFile(`${path}.md`, pageOf(report));
  return `${path}.md`;
}
