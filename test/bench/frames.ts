/** What scripts cost a page, frame by frame, as Chromium's own tracing tells it. */
import type { CDPSession, Page } from 'playwright-core';

type Frames = {
  /** How many frames there were. */
  frames: number;
  /** Milliseconds of scripting in each frame in which there was any. */
  scripting: number[];
  /** Milliseconds of the longest task. People feel one of more than 50. */
  longestTask: number;
};

/**
 * The same twice: as time that the page's thread was computing, and as time that passed, with whatever else
 * the machine did.
 */
export type Traced = { cpu: Frames; wall: Frames };

type TraceEvent = {
  name: string;
  ph: string;
  ts: number;
  dur?: number;
  /** Of the thread alone. */
  tdur?: number;
  pid: number;
  tid: number;
};

type Measure = (event: TraceEvent) => number;

const wallMs: Measure = ({ dur = 0 }) => dur / 1_000;
const cpuMs: Measure = ({ dur = 0, tdur = dur }) => tdur / 1_000;

/** Events that are scripts at work; one inside another counts once. */
const SCRIPTS = new Set([
  'EvaluateScript',
  'EventDispatch',
  'FireAnimationFrame',
  'FunctionCall',
  'RunMicrotasks',
  'TimerFire',
]);

/** Does the work and says what the page's scripts took meanwhile. */
export async function traceFrames(page: Page, work: () => Promise<void>): Promise<Traced> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: {
      includedCategories: ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel'],
    },
  });
  await work();
  await endTracing(session);
  await session.detach();
  const own = ofMainThread(events);
  return { cpu: framesOf(own, cpuMs), wall: framesOf(own, wallMs) };
}

function endTracing(session: CDPSession): Promise<void> {
  return new Promise((resolve, reject) => {
    session.once('Tracing.tracingComplete', () => resolve());
    session.send('Tracing.end').catch(reject);
  });
}

/** What ends a frame on the page's thread: what its scripts have changed goes to the compositor. */
const isFrameEnd = ({ name, ph }: TraceEvent): boolean => name === 'Commit' && ph === 'X';

/**
 * The page's main thread has frames and the most scripts: its workers have no frames, and the browser's own
 * windows few scripts.
 */
function ofMainThread(events: TraceEvent[]): TraceEvent[] {
  const drawing = new Set(events.filter(isFrameEnd).map(threadOf));
  const thread = busiest(events.filter((event) => SCRIPTS.has(event.name) && drawing.has(threadOf(event))));
  if (thread === undefined) throw new Error('the trace has no script of a page with frames');
  return events.filter((event) => threadOf(event) === thread).toSorted((a, b) => a.ts - b.ts);
}

const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;

function framesOf(own: TraceEvent[], measure: Measure): Frames {
  const scripts = outermost(own.filter(({ name, ph }) => ph === 'X' && SCRIPTS.has(name)));
  const ends = own.filter(isFrameEnd).map(({ ts }) => ts);
  const perFrame = new Map<number, number>();
  let frame = 0;
  for (const script of scripts) {
    while ((ends[frame] ?? Infinity) <= script.ts) frame += 1;
    perFrame.set(frame, (perFrame.get(frame) ?? 0) + measure(script));
  }
  const tasks = own.filter(({ name, ph }) => ph === 'X' && name === 'RunTask');
  if (tasks.length === 0) throw new Error('the trace has no task of the page');
  const longestTask = tasks.reduce((longest, task) => Math.max(longest, measure(task)), 0);
  return { frames: ends.length, scripting: [...perFrame.values()], longestTask };
}

function busiest(events: TraceEvent[]): string | undefined {
  const counts = new Map<string, number>();
  for (const event of events) counts.set(threadOf(event), (counts.get(threadOf(event)) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1])[0]?.[0];
}

function outermost(events: TraceEvent[]): TraceEvent[] {
  let end = 0;
  return events.filter(({ ts, dur = 0 }) => {
    if (ts < end) return false;
    end = ts + dur;
    return true;
  });
}

/** The value that 95 of 100 are not above. */
export function p95(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))];
  if (value === undefined) throw new Error('no frame was traced');
  return value;
}
