/** Groups of equal failures: failed runs with the same workflow, node, reason and message. Pure. */
import { causeOf, detailOf, type Cause, type CountedRun } from './statistics.ts';

export type FailureGroup = {
  /** Unique among the groups of a project. */
  key: string;
  workflow: string;
  cause: Cause;
  /** The newest run, whose message is the example. */
  last: CountedRun;
  /** Newest first. */
  runs: CountedRun[];
};

/** Longer messages are compared by their beginning. */
const MOST = 1_000;

/** The parts of messages that differ between equal failures, in the order in which they are replaced. */
const VARIABLE: readonly [RegExp, string][] = [
  [/(https?:\/\/[^\s/?#"']{1,255})[^\s"']*/g, '$1/…'],
  [/"[^"\n]*"|`[^`\n]*`|“[^”\n]*”|(?<!\w)'[^'\n]*'(?!\w)/g, '"…"'],
  [/\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}[\d:.]*(?:Z|[+-]\d{2}:\d{2})?)?/g, '<time>'],
  // Identifiers: UUIDs, hashes, names of runs.
  [/(?<![\w.-])(?=[a-z_-]*\d)[\w-]{8,}(?![\w-])/gi, '<id>'],
  // Statuses of HTTP distinguish failures.
  [/(?<!\bstatus )(?<![\w<])\d[\d.,:]*(?!\w)/gi, '<n>'],
  [/\s+/g, ' '],
];

/** The message without what differs between equal failures: identifiers, numbers, times, quoted values. */
export function patternOf(message: string): string {
  const text = VARIABLE.reduce((left, [part, by]) => left.replaceAll(part, by), message.slice(0, MOST));
  return text.slice(0, MOST).trim();
}

/** The failed runs that were accepted since then in groups, those with the newest failure first. */
export function failureGroups(runs: readonly CountedRun[], since: number): FailureGroup[] {
  const failed = runs.filter(({ phase, acceptedAt }) => phase === 'Failed' && acceptedAt >= since);
  return [...Map.groupBy(failed, keyOf)]
    .flatMap(([key, group]) => {
      const newestFirst = group.toSorted((one, other) => other.acceptedAt - one.acceptedAt);
      const last = newestFirst[0];
      return last === undefined
        ? []
        : [{ key, workflow: last.workflow, cause: causeOf(last), last, runs: newestFirst }];
    })
    .toSorted((one, other) => other.last.acceptedAt - one.last.acceptedAt);
}

function keyOf(run: CountedRun): string {
  const { reason, node = '' } = causeOf(run);
  return [run.workflow, node, reason, patternOf(detailOf(run) ?? '')].join('\n');
}

/** The text by which the list of runs finds the runs of the group, and perhaps others of the same cause. */
export function searchedText({ cause: { reason, node } }: Pick<FailureGroup, 'cause'>): string {
  return node === undefined ? reason : `node ${node}: ${reason}`;
}
