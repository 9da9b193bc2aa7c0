/**
 * Shows on a stream what is being done: every step that takes longer than two seconds says what, how far and
 * how long. A terminal gets one line that changes; anything else a line now and then, so that a log stays
 * readable.
 */

/** Tells how far a step is, such as `1200 of 3000 packages`. */
export type Update = (detail: string) => void;

export type Progress = {
  /** Does the work and shows it. What it throws is thrown on, after a `✗` line. */
  step: <T>(name: string, work: (update: Update) => Promise<T>) => Promise<T>;
  /** One line of its own. */
  say: (line: string) => void;
};

export type ProgressStream = { isTTY?: boolean; write: (text: string) => unknown };

type RunningStep = { name: string; detail: string; started: number; shown: number };

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const clearLine = '\r\u001b[2K';

/** Steps may run inside one another and side by side; the newest is shown. */
export function createProgress(stream: ProgressStream): Progress {
  const running: RunningStep[] = [];
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;

  const tick = () => {
    const step = running.at(-1);
    if (!step) return;
    if (stream.isTTY) {
      frame = (frame + 1) % frames.length;
      stream.write(`${clearLine}${frames[frame]} ${describe(step)}`);
    } else if (isDue(step)) {
      step.shown = performance.now();
      stream.write(`… ${describe(step)}\n`);
    }
  };
  const say = (line: string) => stream.write(`${stream.isTTY ? clearLine : ''}${line}\n`);

  const step = async <T>(name: string, work: (update: Update) => Promise<T>): Promise<T> => {
    const entry: RunningStep = { name, detail: '', started: performance.now(), shown: 0 };
    running.push(entry);
    timer ??= setInterval(tick, stream.isTTY ? 120 : 500);
    const end = (mark: string) => {
      running.splice(running.indexOf(entry), 1);
      if (running.length === 0) {
        clearInterval(timer);
        timer = undefined;
      }
      say(`${mark} ${name}${duration(entry.started)}`);
    };
    try {
      const result = await work((detail) => {
        entry.detail = detail;
      });
      end('✓');
      return result;
    } catch (error) {
      end('✗');
      throw error;
    }
  };
  return { step, say };
}

/** Shows nothing. */
export const quiet: Progress = createProgress({ write: () => {} });

/** A line after two seconds, then every ten. */
function isDue(step: RunningStep): boolean {
  const now = performance.now();
  return step.shown === 0 ? now - step.started >= 2000 : now - step.shown >= 10_000;
}

function describe(step: RunningStep): string {
  return `${step.name}${step.detail ? `: ${step.detail}` : ''}${duration(step.started)}`;
}

function duration(started: number): string {
  const seconds = Math.round((performance.now() - started) / 1000);
  if (seconds < 1) return '';
  return seconds < 60 ? ` (${seconds} s)` : ` (${Math.floor(seconds / 60)} min ${seconds % 60} s)`;
}

/** An error that a person can act on: what failed, where the log is, what to do. */
export function stepFailure(what: string, help: { remedy: string; log?: string; cause?: unknown }): Error {
  const reason = help.cause instanceof Error ? `: ${help.cause.message}` : '';
  const log = help.log ? `\n  log: ${help.log}` : '';
  return new Error(`${what}${reason}${log}\n  what to do: ${help.remedy}`, { cause: help.cause });
}
