/** The name of a run where its workflow is known. Pure. */
import { shortTime } from '../ui/format.ts';

/** The end of a name that Windlass made: the time and random letters (`runs/names.ts`). */
const MADE = /-([0-9a-z]{15})$/;
/** So many letters of it differ from run to run. */
const TAIL = 8;

/** What tells a run from others of its workflow: its name without the beginning. */
export function shortRun(run: string, workflow: string): string {
  const made = MADE.exec(run)?.[1];
  if (made !== undefined) return made.slice(-TAIL);
  const base = `${workflow.replaceAll('.', '-')}-`;
  return run.startsWith(base) && run.length > base.length ? run.slice(base.length) : run;
}

/** `shortRun` with a mark of what is left out. */
export function cutRun(run: string, workflow: string): string {
  const short = shortRun(run, workflow);
  return short === run ? run : `…${short}`;
}

/** What people know a run by: its workflow, and when its event came, which no line breaks or ends before. */
export function runTitle(workflow: string, time: string | number | undefined): string {
  return time === undefined ? workflow : `${workflow} ·\u00a0${shortTime(time).replaceAll(' ', '\u00a0')}`;
}
