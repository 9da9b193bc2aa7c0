/** The limits that an installation can set (chart value `gateway.limits`), with their defaults. */
import * as z from 'zod';

const count = (fallback: number, min: number, max: number) => z.int().min(min).max(max).default(fallback);

/** `requestsPerSecond: 0`: unlimited; `burst: 0`: the requests of two seconds. */
const rate = (requestsPerSecond: number) =>
  z
    .strictObject({
      requestsPerSecond: count(requestsPerSecond, 0, 1_000_000),
      burst: count(0, 0, 10_000_000),
    })
    .prefault({});

export const limitSettings = z
  .strictObject({
    /** First line and all headers of a request, in bytes. */
    headerBytes: count(16_384, 1_024, 65_536),
    /** The longest body, in bytes. Events have their own limit. */
    bodyBytes: count(1_048_576, 1_024, 8_388_608),
    jsonDepth: count(64, 1, 256),
    jsonKeys: count(10_000, 1, 100_000),
    jsonTokens: count(100_000, 1, 1_000_000),
    /** From the start of the connection, or the first byte of the request, to the end of the headers. */
    headersSeconds: count(5, 1, 60),
    /** From the first byte of the request to the end of the body. */
    requestSeconds: count(10, 1, 300),
    /**
     * How long an idle connection stays open. Longer than load balancers keep theirs, so that they close
     * first.
     */
    idleSeconds: count(75, 1, 3_600),
    /** How long a client may leave an answer unread; of a larger one each MiB. */
    unreadSeconds: count(60, 1, 3_600),
    requestsPerConnection: count(10_000, 1, 1_000_000_000),
    connections: count(4_000, 10, 100_000),
    /** 0: no limit per address. */
    connectionsPerAddress: count(2_000, 0, 100_000),
    /** Bytes of requests that are being received, checked and stored; the same for unread answers. */
    inFlightBytes: count(67_108_864, 1_048_576, 4_294_967_296),
    /** Callers that wait for runs; at most half of them for one project. */
    waiting: count(4_000, 2, 1_000_000),
    /** Of a webhook without its own limit. */
    perRoute: rate(1_000),
    /** Of all webhooks of a project. */
    perProject: rate(2_000),
    /** Of a client address. */
    perAddress: rate(0),
    /**
     * Calls that fail verification: of one webhook and client address, and of one webhook and all unknown
     * addresses.
     */
    unverifiedPerAddress: rate(50),
    unverifiedPerRoute: rate(200),
    /** Messages of a session of a chat, and of a client address to all chats of the installation. */
    chatPerSession: rate(1),
    chatPerAddress: rate(10),
  })
  .prefault({});

export type LimitSettings = z.infer<typeof limitSettings>;
