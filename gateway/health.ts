/**
 * Whether this replica should be sent requests. It must first know every route and have said so in its Lease; after that
 * an API server that is away changes nothing, but a replica that alone lags behind it turns unready.
 */
import type { FastifyPluginCallback } from 'fastify';

export type Health = {
  /** Every route was known once. */
  synced: () => boolean;
  /** Why no requests should be sent here; undefined if they should. */
  unready: () => string | undefined;
};

export type HealthSources = {
  /** Milliseconds since the API server last showed that no route is missing; Infinity before the first time. */
  routesAgeMs: () => number;
  /** Milliseconds since it last took our Lease; Infinity before the first time. */
  leaseAgeMs: () => number;
  draining: () => boolean;
};

/** A watch heals within 30 s: whoever is behind for twice as long, while the API server takes its Lease, is stuck. */
const LAGGING_MS = 60_000;
const LEASE_FRESH_MS = 15_000;

export function createHealth({ routesAgeMs, leaseAgeMs, draining }: HealthSources): Health {
  const synced = (): boolean => routesAgeMs() !== Infinity;
  return {
    synced,
    unready: () => {
      if (draining()) return 'shutting down';
      if (!synced()) return 'the routes are not known yet';
      if (leaseAgeMs() === Infinity) return 'the lease was not written yet';
      if (routesAgeMs() > LAGGING_MS && leaseAgeMs() < LEASE_FRESH_MS) return 'the routes are out of date';
      return undefined;
    },
  };
}

/** `/healthz`: the process turns. `/readyz`: it should be sent requests. */
export function healthRoutes({ health }: { health: Health }): FastifyPluginCallback {
  return (app, _options, done) => {
    app.get('/healthz', (_request, reply) => {
      reply.type('text/plain').send('ok\n');
    });
    app.get('/readyz', (_request, reply) => {
      const why = health.unready();
      reply
        .code(why === undefined ? 200 : 503)
        .type('text/plain')
        .send(`${why ?? 'ok'}\n`);
    });
    done();
  };
}
