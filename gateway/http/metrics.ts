/**
 * The gateway's metrics. Labels are bounded: classes of routes and status codes, never IDs. Counting a
 * request adds to a number; Prometheus objects are filled on scrape.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { collectProcessMetrics } from '../../kube/processMetrics.ts';
import { REFUSAL_REASONS, type Refusals } from '../limits/refusals.ts';

const ROUTE_CLASSES = [
  'webhook',
  'bot',
  'callback',
  'chat',
  'execute',
  'run',
  'events',
  'connect',
  'console',
  'kube',
  'other',
] as const;
export type RouteClass = (typeof ROUTE_CLASSES)[number];

/** Values that gauges read on scrape. */
export type Observed = {
  routes: () => number;
  /**
   * Seconds since the API server last confirmed that no route is missing; undefined before the first time.
   */
  routesAgeSeconds: () => number | undefined;
  open: Open;
  /** What the limits refused. */
  refused: Refusals;
  /** Bytes of requests that are being received, checked and stored. */
  inFlightBytes: () => number;
};

/** How many callers wait and how many streams are open. */
export type Open = { waiters: number; streams: number };

export type Metrics = {
  registry: Registry;
  /** Counts by status code for one class of routes: add one where an answer is sent. */
  answered: (route: RouteClass) => Float64Array;
  /** Seconds from the last byte of an event until the run store has accepted it. */
  acceptSeconds: Histogram;
  /** Calls of webhooks and bots that failed verification, by reason. */
  unverified: Counter<'reason'>;
  /** Reviews by the API server, by kind and outcome. */
  reviews: Counter<'kind' | 'outcome'>;
  /** Open connections of each listener. */
  connections: (() => number)[];
  /** When each TLS listener's certificate expires. */
  certificates: Map<string, () => Date>;
};

const HIGHEST_STATUS = 600;
const ACCEPT_BUCKETS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 2];

export function createMetrics(observed: Observed): Metrics {
  const registry = new Registry();
  collectProcessMetrics(registry);
  const counts = new Map(ROUTE_CLASSES.map((route) => [route, new Float64Array(HIGHEST_STATUS)]));
  const connections: Metrics['connections'] = [];
  const certificates: Metrics['certificates'] = new Map();
  registerRequests(registry, counts);
  registerRefusals(registry, observed.refused);
  registerGauges(registry, observed, connections);
  registerCertificates(registry, certificates);
  return {
    registry,
    answered: (route) => counts.get(route) ?? new Float64Array(HIGHEST_STATUS),
    acceptSeconds: new Histogram({
      name: 'windlass_gateway_accept_seconds',
      help: 'Time from the last byte of an event until the run store has accepted it.',
      buckets: ACCEPT_BUCKETS,
      registers: [registry],
    }),
    unverified: new Counter({
      name: 'windlass_gateway_unverified_total',
      help: 'Calls of webhooks and bots that failed verification, by reason.',
      labelNames: ['reason'],
      registers: [registry],
    }),
    reviews: new Counter({
      name: 'windlass_gateway_reviews_total',
      help: 'Reviews of callers by the API server, by kind and outcome.',
      labelNames: ['kind', 'outcome'],
      registers: [registry],
    }),
    connections,
    certificates,
  };
}

function registerCertificates(registry: Registry, certificates: Metrics['certificates']): void {
  registry.registerMetric(
    new Gauge({
      name: 'windlass_gateway_tls_certificate_expiry_timestamp_seconds',
      help: 'When the TLS certificate of a listener expires, in seconds since 1970.',
      labelNames: ['listener'],
      registers: [],
      collect() {
        for (const [listener, expires] of certificates) this.set({ listener }, expires().getTime() / 1_000);
      },
    }),
  );
}

function registerRefusals(registry: Registry, refused: Refusals): void {
  registry.registerMetric(
    new Counter({
      name: 'windlass_gateway_refused_total',
      help: 'Requests and connections refused by a limit, by reason.',
      labelNames: ['reason'],
      registers: [],
      collect() {
        this.reset();
        for (const reason of REFUSAL_REASONS) this.inc({ reason }, refused[reason]);
      },
    }),
  );
}

function registerRequests(registry: Registry, counts: Map<RouteClass, Float64Array>): void {
  registry.registerMetric(
    new Counter({
      name: 'windlass_gateway_requests_total',
      help: 'Answers, by class of route and status code.',
      labelNames: ['route', 'status'],
      registers: [],
      collect() {
        this.reset();
        for (const [route, byStatus] of counts) {
          byStatus.forEach((count, status) => {
            if (count > 0) this.inc({ route, status: String(status) }, count);
          });
        }
      },
    }),
  );
}

function registerGauges(registry: Registry, observed: Observed, connections: Metrics['connections']): void {
  const gauge = (name: string, help: string, read: () => number | undefined) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read() ?? Number.NaN);
      },
    });
  gauge('windlass_gateway_routes', 'Served workflows.', observed.routes);
  gauge(
    'windlass_gateway_routes_age_seconds',
    'Time since the API server last confirmed that no route is missing.',
    observed.routesAgeSeconds,
  );
  gauge('windlass_gateway_connections', 'Open connections of all listeners.', () =>
    connections.reduce((sum, open) => sum + open(), 0),
  );
  gauge(
    'windlass_gateway_in_flight_bytes',
    'Bytes of requests that are being received, checked and stored.',
    observed.inFlightBytes,
  );
  gauge('windlass_gateway_waiters', 'Callers that wait for a run.', () => observed.open.waiters);
  gauge('windlass_gateway_event_streams', 'Open streams of live events.', () => observed.open.streams);
}
