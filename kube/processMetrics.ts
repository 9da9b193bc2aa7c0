/** The metrics of a process of Node: memory, processor time, garbage collection, delays of its event loop. */
import { collectDefaultMetrics, type Registry } from 'prom-client';

/**
 * Between two samples of the event loop's delay, in milliseconds. Each sample wakes the process: in shorter
 * intervals, such as the library's 10 ms, a program that has nothing to do would do little else.
 */
const LAG_RESOLUTION_MS = 100;

/** Adds them to the registry. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_RESOLUTION_MS });
}
