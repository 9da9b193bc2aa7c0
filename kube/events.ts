/**
 * Writes Events for `kubectl describe`: at a bounded rate (`eventBudget.ts`), never twice within two minutes,
 * and without delaying the work that they describe.
 */
import { randomBytes } from 'node:crypto';
import type { KubeClient } from './client.ts';
import type { Manifest } from './writes.ts';
import { systemClock, type Clock } from './clock.ts';
import { isTerminating } from './errors.ts';
import { createEventBudget } from './eventBudget.ts';
import { microTime } from './leaseLock.ts';
import type { Log } from './log.ts';
import { events, type Event, type KubeObject } from './resource.ts';

export type Occurrence = {
  type: 'Normal' | 'Warning';
  /** The reason, in CamelCase, at most 128 characters. */
  reason: string;
  /** The action, in CamelCase, at most 128 characters. */
  action: string;
  /** A sentence for people; cut to 1,024 bytes. */
  note: string;
};

export type Recorder = {
  /**
   * Writes the event in the background. What fails is logged and forgotten. False where it is dropped because
   * too many were written, so that it may be recorded later.
   */
  record(regarding: KubeObject, occurrence: Occurrence): boolean;
  /** Resolves when no Event is being written any more. */
  flush(): Promise<void>;
};

export type RecorderOptions = {
  log: Log;
  /** The reporting process; default: the component. */
  instance?: string;
  clock?: Clock;
};

const noteLimit = 1_024;

/** `component` names the controller, as in `windlass.dev/operator`. */
export function createRecorder(
  client: Pick<KubeClient, 'create'>,
  component: string,
  options: RecorderOptions,
): Recorder {
  const { log, instance = component, clock = systemClock } = options;
  const budget = createEventBudget(clock);
  const writing = new Set<Promise<void>>();

  async function write(event: Manifest<Event>): Promise<void> {
    try {
      await client.create(events, event, { retries: 1 });
    } catch (error) {
      if (!isTerminating(error)) log.warn({ reason: event.reason, err: error }, 'writing an Event failed');
    }
  }

  return {
    record: (regarding, occurrence) => {
      const { uid, namespace = '' } = regarding.metadata;
      const key = [uid, occurrence.type, occurrence.reason, occurrence.note].join('\n');
      const answer = budget.take(namespace, key);
      if (answer !== 'write') return answer === 'repeated';
      const written = write(eventOf(regarding, occurrence, component, instance, clock.date()));
      writing.add(written);
      void written.finally(() => writing.delete(written));
      return true;
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
      // Kubernetes stores Events about cluster-wide objects in this namespace.
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

/** The longest prefix of the text within the limit, without a partial character. */
export function cutBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= limit) return text;
  let end = limit;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
