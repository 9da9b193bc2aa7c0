/** The contract of steps: evaluated fields in, an output out. Every failure is a `StepError`. */
import type { StepBudget } from './budget.ts';
import type { CodeSandbox } from './code.ts';
import { credentialKind, type CredentialKind, type CredentialSpec } from '../../api/credential.ts';
import type { Mock } from '../../api/mock.ts';
import { StepError, type FailureReason } from '../../api/reasons.ts';
import { tokenRef } from '../../api/token.ts';
import type { TranscriptEntry } from '../../api/transcript.ts';
import type { NodeOutput, SecretKeyRef } from '../../api/value.ts';
import type { Egress } from '../egress/egress.ts';
import { Failure, type FailureKind } from './failure.ts';
import type { Secret } from './secret.ts';

/** Whether a step may be repeated if it is unknown whether its effect took place. */
export type Effect = 'AtLeastOnce' | 'AtMostOnce';

/** A credential with access to its secrets. */
export type CredentialAccess = {
  name: string;
  /** Of the object, where there is one. */
  uid?: string;
  spec: CredentialSpec;
  /**
   * The value of a Secret key. Throws a StepError `CredentialMissing` if the Secret or the key does not
   * exist.
   */
  secret(ref: SecretKeyRef): Secret;
};

/** The logger of a node: constant messages with fields, never a payload. */
export type NodeLog = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

/** What each request needs: where it may connect to, and a signal that is aborted when it must end. */
export type Wire = { egress: Egress; signal: AbortSignal };

/** A call of an agent. `timeoutMs`: left out, the timeout of the step alone applies. */
export type PerformedCall = { effect: Effect; effectKey: string; timeoutMs?: number };

/** A workflow that a tool runs, as the model is told of it. */
export type CalleeInfo = { description?: string; inputSchema?: Record<string, unknown> };

/** How an agent runs workflows as child runs. */
export type ChildCalls = {
  /** The workflow of that name; undefined if there is no valid one. */
  describe(workflow: string): Promise<CalleeInfo | undefined>;
  /**
   * Starts the child run of a call, or finds the one that the call has started before. Returns its name.
   * @throws StepError if the child run is refused
   */
  start(call: { workflow: string; input: unknown; effectKey: string }): Promise<string>;
  /** Notes that the agent waits for a child run that is stored, and that another delivery has started. */
  await(child: string): void;
  /**
   * The result of a child run that has ended; undefined before.
   * @throws StepError `ChildFailed` if it did not succeed, `EffectUnknown` if one of its effects is in doubt
   */
  resultOf(workflow: string, child: string): StepResult | undefined;
  /** Resolves when a child run of the agent has ended after this call. */
  nextEnd(): Promise<void>;
  /** The result of the child run is stored: its end is no longer needed. */
  drop(child: string): void;
};

/**
 * The end of an attempt of an agent that only waits for child runs: it is executed again, as the same
 * attempt, when one of them has ended.
 */
export class AwaitsChildren extends Error {
  readonly children: readonly string[];

  constructor(children: readonly string[]) {
    super('the agent waits for child runs');
    this.children = children;
  }
}

/** How an agent performs its calls of models and tools, and stores them, so that none is lost or repeated. */
export type AgentCalls = {
  /** The calls that are stored, as JSON by key (`nodes/agent/rounds.ts`). */
  stored: ReadonlyMap<string, string>;
  /** Aborted when the step must end. */
  signal: AbortSignal;
  /** The attempt of the step, from 1. */
  attempt: number;
  /** The effect key of an attempt of the step. */
  effectKeyOf(attempt: number): string;
  /**
   * Stores calls. `reservedBytes`: what the results of all tools in progress may take.
   * @throws StepError `TranscriptTooLarge` where the run has no room for an answer and the results of its
   * tools
   */
  store(entries: ReadonlyMap<string, string>, reservedBytes: number): Promise<void>;
  /**
   * Performs one call, with a timeout and a credential of its own. A call whose effect must not be repeated
   * may finish when the runner shuts down.
   */
  perform<T>(call: PerformedCall, work: (context: StepContext) => Promise<T>): Promise<T>;
  /** Left out: there are no child runs. */
  children?: ChildCalls;
  /** Notes the transcript so far, for the record. */
  report(transcript: readonly TranscriptEntry[]): void;
};

/** The memory of an agent. */
export type AgentMemory = {
  /** The stored turns of earlier runs as JSON, the oldest first. */
  turns: readonly string[];
  /** Notes the turn so far: `end` gives what is stored when the agent ends, undefined for nothing. */
  report(turn: (end: AgentMemoryEnd) => string | undefined): void;
};

/** How an agent ended, for its memory. Milliseconds since 1970. */
export type AgentMemoryEnd = {
  run: string;
  now: number;
  failure?: { reason: string; message: string } | undefined;
  /** Its texts are withheld from readers of the memory. */
  isRedacted: boolean;
};

/** What a node can use while it is executed. */
export type StepContext = {
  run: {
    name: string;
    workflow: string;
    /** The namespace of the project. */
    project?: string;
    node: string;
    test: boolean;
    /** When the event was accepted, in milliseconds since 1970. */
    acceptedAt: number;
  };
  /** A credential of the project. Throws a StepError `CredentialMissing`. */
  credential(name: string): Promise<CredentialAccess>;
  /**
   * Decides where the step may connect to. Every connection to a host that a workflow or credential names
   * goes through it.
   */
  egress: Egress;
  /** Of a tool of an agent: where a request may be redirected. Left out: anywhere that the egress admits. */
  mayRedirect?: (from: URL, to: URL) => boolean;
  /** Aborted when the step must end: on its timeout, when the run is cancelled, or when the claim is lost. */
  signal: AbortSignal;
  /** With `AtMostOnce` a failure that leaves the effect in doubt must be an `EffectUnknown`. */
  effect: Effect;
  /** The same for each delivery of one logical attempt, so that the provider can deduplicate. */
  effectKey: string;
  /**
   * Which of the keys an earlier run of the workflow has remembered at this node. Waits while the run store
   * is unavailable.
   */
  isSeen(keys: readonly string[]): Promise<readonly boolean[]>;
  /** Of a test run with mocks: those of the node and its tools. Left out: all effects are real. */
  mocks?: readonly Mock[];
  /** Of an agent with tools. */
  calls?: AgentCalls;
  /** Of an agent. Left out: its requests are not counted. */
  budget?: StepBudget;
  /** Of an agent with a memory. */
  memory?: AgentMemory;
  /** Executes code. Left out: the installation does not. */
  sandbox?: CodeSandbox;
  /**
   * Streams text to live events of the run. Best effort. `call`: identifies the request that brought it; text
   * of another request starts over.
   */
  emitText(text: string, call?: string): void;
  /**
   * Says that a request to a model begins, whose answer will have this position in the transcript of the
   * agent. Text of an earlier request for the same answer is void.
   */
  beginText?(position?: number): void;
  log: NodeLog;
};

/** The reply of a response node, as the run store stores it. */
export type StepReply = {
  status: number;
  headers: Record<string, string>;
  body: string;
  contentType: string;
};

/** `cost`: a decimal text. */
type StepUsage = { inputTokens?: number; outputTokens?: number; cost?: string; currency?: string };

/**
 * Keys to remember, stored together with the output. If another run was faster, the step is executed again.
 */
type StepMemory = { keys: readonly string[]; ttlMs: number; limit: number };

export type StepResult = {
  output: NodeOutput;
  usage?: StepUsage;
  reply?: StepReply;
  remember?: StepMemory;
  log?: string;
};

/**
 * The credential's part of the given kind.
 * @throws StepError `InvalidParameters` when the credential is of another kind
 */
export function partOf<Kind extends CredentialKind>(
  credential: CredentialAccess,
  kind: Kind,
): NonNullable<CredentialSpec[Kind]> {
  const part = credential.spec[kind];
  if (part) return part;
  throw new StepError(
    'InvalidParameters',
    `credential ${credential.name} is of kind ${credentialKind(credential.spec)}, but the step needs one of kind ${kind}`,
  );
}

/**
 * The access token of a credential of kind oauth2, as it is now: the operator renews it.
 * @throws StepError `CredentialMissing` when nobody has connected the account, `InvalidParameters` when it is
 * of another kind
 */
export function accessToken(credential: CredentialAccess): Secret {
  partOf(credential, 'oauth2');
  const { name } = credential;
  try {
    return credential.secret(tokenRef(name));
  } catch (error) {
    if (!(error instanceof StepError) || error.reason !== 'CredentialMissing') throw error;
    const message = `the Credential ${name} is not connected: kubectl describe credentials.windlass.dev ${name} says how to connect it`;
    throw new StepError('CredentialMissing', message, { cause: error });
  }
}

/**
 * The error of a failure after which the effect is in doubt: `EffectUnknown` if it must not be repeated.
 * `what` names the doubt.
 */
export function inDoubt(effect: Effect, error: StepError, what: string): StepError {
  if (effect === 'AtLeastOnce') return error;
  return new StepError('EffectUnknown', `${error.message}; ${what}, so it is not repeated`, { cause: error });
}

/** The reason of an aborted signal as an error of the step. */
export function abortion(signal: AbortSignal): StepError {
  const reason: unknown = signal.reason;
  return reason instanceof StepError ? reason : new StepError('Cancelled', 'the step was stopped');
}

const REASONS: Record<Exclude<FailureKind, 'Stopped' | 'Egress'>, FailureReason> = {
  Unreachable: 'Unreachable',
  InvalidAnswer: 'InvalidAnswer',
  TooLarge: 'OutputTooLarge',
  Rejected: 'CredentialRejected',
  MissingScope: 'CredentialRejected',
  Forbidden: 'Refused',
  Missing: 'Refused',
  RateLimited: 'RateLimited',
  UpstreamError: 'UpstreamError',
  Refused: 'Refused',
  Unexpected: 'Refused',
};

/** The error of a step for a failed request; any other error is returned as it is. */
export function stepError(
  error: unknown,
  { signal, effect }: Pick<StepContext, 'signal' | 'effect'>,
): unknown {
  if (!(error instanceof Failure)) return error;
  const own = withoutDoubt(error, signal);
  return error.isInDoubt ? inDoubt(effect, own, 'the provider may have done what was asked') : own;
}

function withoutDoubt(
  { kind, message, cause, retryAfterMs, isPermanent }: Failure,
  signal: AbortSignal,
): StepError {
  if (kind === 'Stopped') return abortion(signal);
  if (kind === 'Egress') return cause instanceof StepError ? cause : new StepError('Unreachable', message);
  return new StepError(REASONS[kind], message, {
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(isPermanent && { retryable: false }),
  });
}

/**
 * Does work of a step that sends requests.
 * @throws StepError for every Failure
 */
export async function asStep<T>(
  context: Pick<StepContext, 'signal' | 'effect'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw stepError(error, context);
  }
}
