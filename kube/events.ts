/**
 * Events that people see in `kubectl describe`: few, never twice within two minutes, and never in the way of the work
 * they tell about.
 */
import { randomBytes } from 'node:crypto';
import type { KubeClient, Manifest } from './client.ts';
import { systemClock, type Clock } from './clock.ts';
import { isTerminating } from './errors.ts';
import { microTime } from './holder.ts';
import type { Log } from './log.ts';
import { events, type Event, type KubeObject } from './resource.ts';

export type Occurrence = {
  type: 'Normal' | 'Warning';
  /** Why, one word in CamelCase, at most 128 characters. */
  reason: string;
  /** What was done or tried, one word in CamelCase, at most 128 characters. */
  action: string;
  /** A sentence for people; cut to 1,024 bytes. */
  note: string;
};

export type Recorder = {
  /** Writes the event in the background. What fails is logged and forgotten. */
  record(regarding: KubeObject, occurrence: Occurrence): void;
  /** Resolves when nothing is being written any more. */
  flush(): Promise<void>;
};

export type RecorderOptions = {
  log: Log;
  /** The process that reports, by default the component. */
  instance?: string;
  clock?: Clock;
};

const sameForMs = 120_000;
/** How many events may come at once, and how many a second after that. */
const rate = { burst: 50, perSecond: 1 };
const noteLimit = 1_024;

/** `component` names the controller, as in `windlass.dev/operator`. */
export function createRecorder(
  client: Pick<KubeClient, 'create'>,
  component: string,
  options: RecorderOptions,
): Recorder {
  const { log, instance = component, clock = systemClock } = options;
  const isNew = createMemory(clock);
  const mayWrite = createBucket(clock);
  const writing = new Set<Promise<void>>();

  async function write(event: Manifest<Event>): Promise<void> {
    try {
      await client.create(events, event, { retries: 1 });
    } catch (error) {
      if (!isTerminating(error)) log.warn({ reason: event.reason, err: error }, 'cannot write an event');
    }
  }

  return {
    record: (regarding, occurrence) => {
      const key = [regarding.metadata.uid, occurrence.type, occurrence.reason, occurrence.note].join('\n');
      if (!isNew(key) || !mayWrite()) return;
      const written = write(eventOf(regarding, occurrence, component, instance, clock.date()));
      writing.add(written);
      void written.finally(() => writing.delete(written));
    },
    flush: async () => {
      await Promise.all(writing);
    },
  };
}

function eventOf(
  { apiVersion, kind, metadata }: KubeObject,
  { type, reason, action, note }: Occurrence,
  component: string,
  instance: string,
  now: Date,
): Manifest<Event> {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    metadata: {
      // Events about cluster-wide objects are kept in this namespace.
      namespace: namespace ?? 'default',
      name: `${name.slice(0, 220)}.${randomBytes(8).toString('hex')}`,
    },
    type,
    reason,
    action,
    note: cutBytes(note, noteLimit),
    eventTime: microTime(now),
    reportingController: component,
    reportingInstance: instance,
    regarding: {
      apiVersion,
      kind,
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  };
}

/** The longest beginning of the text that fits, without half a character at the end. */
export function cutBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= limit) return text;
  let end = limit;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** True for a key that was not seen in the last two minutes. */
function createMemory(clock: Clock): (key: string) => boolean {
  const seen = new Map<string, number>();
  return (key) => {
    const now = clock.now();
    for (const [old, at] of seen) {
      if (now - at < sameForMs) break;
      seen.delete(old);
    }
    if (seen.has(key)) return false;
    seen.set(key, now);
    return true;
  };
}

/** True as often as the rate allows. */
function createBucket(clock: Clock): () => boolean {
  let tokens = rate.burst;
  let filledAt = clock.now();
  return () => {
    const now = clock.now();
    tokens = Math.min(rate.burst, tokens + ((now - filledAt) / 1_000) * rate.perSecond);
    filledAt = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
