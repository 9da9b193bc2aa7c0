/**
 * What the conformance suite of polled triggers must be told of a provider: how its accounts are made, and
 * how each of its failures is shown.
 */
import type { CredentialKind, CredentialSpec } from '../../../api/credential.ts';
import type { Preset } from '../../../api/provider.ts';
import type { TriggerKind } from '../../../api/triggerKinds.ts';
import type { NodeOutput } from '../../../api/value.ts';
import type { PollReason } from '../../../nodes/contract/poller.ts';

/** How a provider can fail. */
export const FAULTS = [
  /** 401. */
  'unauthorized',
  /** 403. */
  'forbidden',
  /** 404. */
  'notFound',
  /** 410. */
  'gone',
  /** 429, with `Retry-After` where the protocol has it. */
  'tooManyRequests',
  /** 503. */
  'unavailable',
  /** No answer. */
  'silence',
  /** The connection breaks off. */
  'lost',
  /** An answer of somebody else, such as the page of a portal. */
  'garbage',
  /** An answer that does not end. */
  'endless',
] as const;
export type Fault = (typeof FAULTS)[number];

/** What the server asks to wait with `tooManyRequests`, in seconds. */
export const RETRY_AFTER = 17;

/** Stands between the pollers and the provider, and answers in its place where it is told to. */
export type ProviderProxy = {
  port: number;
  /** The requests from the one with that number on, counted from now on, fail; undefined: none does. */
  fail(fault: Fault | undefined, first?: number): void;
  /** Is asked for each request before it passes; without an answer where it says no. */
  watch(passes: (() => boolean) | undefined): void;
  /** The requests since `fail` was called last. */
  requests(): number;
  /** The requests that failed since then. */
  failed(): number;
  /** The bytes that a client took of the answer that does not end. */
  takenBytes(): number;
  close(): Promise<void>;
};

/**
 * How a failure is shown: with one of these reasons, or, where the provider is asked for one event, not at
 * all: then it says that there is no such event.
 */
export type Shown = { reasons: readonly PollReason[]; firstRequestOnly?: boolean };

/** So much that a poll of it needs memory. */
type Large = {
  /** What is there before the first poll. */
  fill(): Promise<void>;
  /** What happens then, many pages of it: how many events it is. */
  burst(): Promise<number>;
};

/**
 * How large pages of a provider's answers are, where that can be chosen; left out: so small that a few events
 * are pages.
 */
type AccountOptions = { pageSize?: number };

/** An account of one's own, in which nothing has happened yet. */
export type Account = {
  spec: CredentialSpec;
  /** What its Secrets hold, by key; `access_token` is that of a connected account. */
  secrets: Readonly<Record<string, string>>;
  /** Of the trigger, beside the credential. */
  fields?: object;
  proxy: ProviderProxy;
  /** Something happens that is one event of that name, after all that happened before. */
  add(name: string): Promise<void>;
  /**
   * Of files: what is in the one of that name becomes something else, which is one more event of that name.
   */
  change?(name: string): Promise<void>;
  /** Left out: hundreds of small events are as large as it gets. */
  large?: Large;
  close(): Promise<void>;
};

export type Driver = {
  title: string;
  kind: TriggerKind;
  credential: CredentialKind;
  /** Of an `oauth2` credential. */
  preset?: Preset;
  /**
   * It is another one of the list with another login: what a login cannot change is tried with that one
   * alone.
   */
  differsByLogin?: boolean;
  /** Null: the protocol knows no such failure. */
  faults: Readonly<Record<Fault, Shown | null>>;
  /** Whether a server that asks to wait says for how long. */
  saysWhen: boolean;
  /** The name of the event that an output shows. */
  nameOf(output: NodeOutput): string;
  start(): Promise<{ account(options?: AccountOptions): Promise<Account>; stop(): Promise<void> }>;
};

/** How pollers of HTTP APIs report failures, but for `notFound` and `gone`, which differ. */
export const HTTP_API_FAULTS = {
  unauthorized: { reasons: ['Rejected'] },
  forbidden: { reasons: ['Rejected'] },
  tooManyRequests: { reasons: ['RateLimited'] },
  unavailable: { reasons: ['UpstreamError'] },
  silence: { reasons: ['Timeout'] },
  lost: { reasons: ['Unreachable'] },
  garbage: { reasons: ['InvalidAnswer'] },
  endless: { reasons: ['InvalidAnswer'] },
} as const;
