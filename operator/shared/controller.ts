/** How a controller is declared, and how a list of controllers runs. */
import type { Cache, Change } from '../../kube/cache.ts';
import type { Clock } from '../../kube/clock.ts';
import {
  keyOf,
  runController,
  watchInto,
  type Action,
  type Key,
  type Outcome,
} from '../../kube/controller.ts';
import type { Log } from '../../kube/log.ts';
import { createQueue, type Queue, type QueueStats } from '../../kube/queue.ts';
import { objectKey, type KubeObject } from '../../kube/resource.ts';
import type { Caches } from './caches.ts';

/** Reconciles one kind of object. `Context` is what its watches and its reconcile need. */
export type Controller<Context> = {
  /** The label of its metrics. */
  name: string;
  /** Reconciles that may be in progress at a time. */
  concurrency: number;
  /** Each is called once, before the first reconcile. */
  watches: readonly Watch<Context>[];
  reconcile: (key: Key, context: Context) => Promise<Action>;
};

/** Connects a source of changes with the queue of a controller. */
export type Watch<Context> = (context: Context, queue: Pick<Queue, 'add'>) => void;

type WithCaches = { caches: Caches };

/** Queues keys for every cached object and every later change; by default the key of the object itself. */
export function watch<T extends KubeObject>(
  select: (caches: Caches) => Cache<T>,
  keysFor: (object: T, change: Change<T>, caches: Caches) => readonly Key[] = ownKey,
): Watch<WithCaches> {
  return ({ caches }, queue) => {
    watchInto(select(caches), queue, (object, change) => keysFor(object, change, caches));
  };
}

/** Queues keys whenever a part of the operator notifies. */
export function subscribe<T, Context extends WithCaches>(
  select: (context: Context) => { onChange(handler: (value: T) => void): unknown },
  keysFor: (value: T, caches: Caches) => readonly Key[],
): Watch<Context> {
  return (context, queue) => {
    select(context).onChange((value) => {
      for (const key of keysFor(value, context.caches)) queue.add(objectKey(key));
    });
  };
}

export function ownKey(object: KubeObject): readonly Key[] {
  return [keyOf(object)];
}

/** The key of the project, which is the namespace of the object. */
export function projectKey({ metadata }: KubeObject): readonly Key[] {
  return [{ namespace: '', name: metadata.namespace ?? '' }];
}

/** Leaves out changes of status or metadata alone, most of which the operator itself wrote. */
export function ifSpecChanged<T extends KubeObject>(
  keysFor: (object: T, change: Change<T>, caches: Caches) => readonly Key[] = ownKey,
) {
  return (object: T, change: Change<T>, caches: Caches): readonly Key[] => {
    const isSame =
      change.type === 'updated' &&
      change.old.metadata.generation === change.object.metadata.generation &&
      change.old.metadata.deletionTimestamp === change.object.metadata.deletionTimestamp;
    return isSame ? [] : keysFor(object, change, caches);
  };
}

/** What metrics show of controllers. */
type ControllerMetrics = {
  watchQueue(controller: string, stats: () => QueueStats): void;
  reconciled(controller: string, outcome: Outcome, seconds: number): void;
};

/**
 * Creates the queues, which fill from now on. The returned function reconciles until the signal is aborted.
 */
export function prepareControllers<Context extends { clock: Clock; log: Log }>(
  controllers: readonly Controller<Context>[],
  context: Context,
  metrics: ControllerMetrics,
): (signal: AbortSignal) => Promise<void> {
  const { clock, log } = context;
  const prepared = controllers.map(({ name, concurrency, watches, reconcile }) => {
    const queue = createQueue({ concurrency, clock });
    for (const connect of watches) connect(context, queue);
    metrics.watchQueue(name, () => queue.stats());
    return { name, queue, reconcile: (key: Key) => reconcile(key, context) };
  });
  return async (signal) => {
    await Promise.all(
      prepared.map((controller) => {
        const onOutcome = (outcome: Outcome, seconds: number) =>
          metrics.reconciled(controller.name, outcome, seconds);
        return runController({ ...controller, log, signal, onOutcome });
      }),
    );
  };
}
