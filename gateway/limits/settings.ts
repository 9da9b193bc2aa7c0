/** The limits that an installation can set (chart value `gateway.limits`), with what holds for what is left out. */
import * as z from 'zod';

const count = (fallback: number, min: number, max: number) => z.int().min(min).max(max).default(fallback);

/** `requestsPerSecond: 0` stands for no limit; `burst: 0` for what two seconds let through. */
const rate = (requestsPerSecond: number) =>
  z
    .strictObject({
      requestsPerSecond: count(requestsPerSecond, 0, 1_000_000),
      burst: count(0, 0, 10_000_000),
    })
    .prefault({});

export const limitSettings = z
  .strictObject({
    /** All headers of a request with its first line, in bytes. */
    headerBytes: count(16_384, 1_024, 65_536),
    /** The longest body that is looked at, in bytes. What becomes an event has a bound of its own. */
    bodyBytes: count(1_048_576, 1_024, 8_388_608),
    jsonDepth: count(64, 1, 256),
    jsonKeys: count(10_000, 1, 100_000),
    jsonTokens: count(100_000, 1, 1_000_000),
    /** Time to the end of the headers, from the connection's begin or the request's first byte. */
    headersSeconds: count(5, 1, 60),
    /** Time to the end of the body, from the request's first byte. */
    requestSeconds: count(10, 1, 300),
    /** How long a connection is kept without a request. Above what load balancers keep theirs, so that they close first. */
    idleSeconds: count(75, 1, 3_600),
    requestsPerConnection: count(10_000, 1, 1_000_000_000),
    connections: count(4_000, 10, 100_000),
    /** 0: as many as in all. */
    connectionsPerAddress: count(2_000, 0, 100_000),
    /** Bytes of requests that are being received, checked and stored, of all connections together; as many of unread answers. */
    inFlightBytes: count(67_108_864, 1_048_576, 4_294_967_296),
    /** Callers that wait for the answer of a run; half of them of one project. */
    waiting: count(4_000, 2, 1_000_000),
    /** Of a webhook that names no limit of its own. */
    perRoute: rate(1_000),
    /** Of all webhooks of a project. */
    perProject: rate(2_000),
    /** Of a client's address. */
    perAddress: rate(0),
    /** Calls that fail verification: of a webhook with `auth` and a client's address, and of all unknown addresses of the webhook. */
    unverifiedPerAddress: rate(50),
    unverifiedPerRoute: rate(200),
  })
  .prefault({});

export type LimitSettings = z.infer<typeof limitSettings>;
