/** Checks the width of comments and the subjects of commits. */
import { output } from './run.ts';

const COMMENT_COLUMNS = 110;
const SUBJECT_CHARACTERS = 72;
/**
 * The rule applies to commits since then: older ones cannot be changed. A date also works in a shallow clone.
 */
const SUBJECTS_SINCE = '2026-11-24T12:00:00Z';
/** An error ages out, so that it cannot fail every later change. */
const MOST_COMMITS = 50;

/** A line that is a comment of TypeScript or of a Lua script. */
const COMMENT = /^\s*(?:\/\/|\/?\*|-- )/;
/** A line whose text is one URL cannot be broken. */
const UNBREAKABLE = /^\s*(?:\/\/|\/?\*+)\s*\S+(?:\s*\*\/)?$/;

/** The lines of a file whose comment is too wide, counted from 1. */
export function wideComments(text: string): number[] {
  return text.split('\n').flatMap((line, index) => {
    const isWide = line.length > COMMENT_COLUMNS && COMMENT.test(line) && !UNBREAKABLE.test(line);
    return isWide ? [index + 1] : [];
  });
}

/** Why the subject of a commit is not acceptable; undefined for one that is. */
export function subjectProblem(subject: string): string | undefined {
  const { length } = subject;
  if (length > SUBJECT_CHARACTERS)
    return `has ${length} characters, at most ${SUBJECT_CHARACTERS} are allowed`;
  if (subject.endsWith('.')) return 'ends with a period';
  return /\s/.test(subject) ? undefined : 'is one word: say what the commit changes';
}

/**
 * What is wrong with the subjects of recent commits, one line each. Commits of `origin/main`, where that is
 * known, are published and not checked, nor are merges.
 */
export async function commitProblems(): Promise<string[]> {
  const known = await output('git', ['for-each-ref', '--format=%(refname)', 'refs/remotes/origin/main']);
  const published = known.trim() === '' ? [] : [`^${known.trim()}`];
  const range = [`--since=${SUBJECTS_SINCE}`, `--max-count=${MOST_COMMITS}`, 'HEAD', ...published];
  const log = await output('git', ['log', '--no-merges', '--format=%h %s', ...range]);
  return log
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const [hash = '', ...words] = line.split(' ');
      const problem = subjectProblem(words.join(' '));
      return problem === undefined ? [] : [`${hash}: the subject ${problem}: ${words.join(' ')}`];
    });
}
