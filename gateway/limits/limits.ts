/** All limits of the gateway: the settings, and the state that enforces them. */
import type { JsonLimits } from '../../api/json.ts';
import { VALUE_LIMIT_BYTES } from '../../runs/advance.ts';
import { createAddresses, type Addresses } from './addresses.ts';
import { createChatAnswers, type ChatAnswers } from './chatAnswers.ts';
import { createChatRates, type ChatRates } from './chatRates.ts';
import { createInFlight, type InFlight } from './inFlight.ts';
import {
  createProjectConcurrency,
  type ProjectConcurrency,
  createWaiterLimit,
  type WaiterLimit,
} from './projectLimits.ts';
import { createRates, type Rates } from './rates.ts';
import { createRefusals, type Refusals } from './refusals.ts';
import type { LimitSettings } from './settings.ts';
import { createPacedQueue, type PacedQueue } from './pacedQueue.ts';
import { createUnread, type Unread } from './unread.ts';
import { createUnverifiedRates, type Unverified } from './unverified.ts';

export type Limits = {
  settings: LimitSettings;
  /** The longest body whose event the run store accepts. */
  eventBytes: number;
  json: JsonLimits;
  addresses: Addresses;
  rates: Rates;
  unverified: Unverified;
  chat: ChatRates;
  chatAnswers: ChatAnswers;
  inFlight: InFlight;
  concurrency: ProjectConcurrency;
  waiterLimit: WaiterLimit;
  unread: Unread;
  /** Answers to refused calls. */
  refusalQueue: PacedQueue;
  /** Pieces of large bodies. */
  bodyQueue: PacedQueue;
  refused: Refusals;
};

/** Maximum queued refusals: each retains its request, and a connection may have sent several. */
const REFUSED = 1_000;
/** Pieces of up to 64 KiB: 128 MiB a second are several hundred of the largest events. */
const LARGE_BODIES = { requestsPerSecond: 2_000, burst: 32 };

export function createLimits(settings: LimitSettings, trustedProxies: readonly string[]): Limits {
  const { bodyBytes, inFlightBytes, jsonDepth, jsonKeys, jsonTokens, unreadSeconds, waiting } = settings;
  const eventBytes = Math.min(bodyBytes, VALUE_LIMIT_BYTES);
  return {
    settings,
    eventBytes,
    json: { maxDepth: jsonDepth, maxKeys: jsonKeys, maxTokens: jsonTokens },
    addresses: createAddresses(trustedProxies),
    rates: createRates(settings),
    unverified: createUnverifiedRates(settings),
    chat: createChatRates(settings),
    chatAnswers: createChatAnswers(waiting),
    inFlight: createInFlight(inFlightBytes, eventBytes),
    concurrency: createProjectConcurrency(),
    waiterLimit: createWaiterLimit(waiting),
    unread: createUnread(inFlightBytes, unreadSeconds * 1_000),
    refusalQueue: createPacedQueue({ most: REFUSED }),
    bodyQueue: createPacedQueue({ perTurn: 1, rate: LARGE_BODIES }),
    refused: createRefusals(),
  };
}

/** Whether the event exceeds what the run store accepts as one value. */
export function isTooLargeEvent(input: string): boolean {
  // A character of a string has at most three bytes.
  return input.length * 3 > VALUE_LIMIT_BYTES && Buffer.byteLength(input) > VALUE_LIMIT_BYTES;
}
