/** The contract of the sandbox that executes code nodes. */
import type { FailureReason } from '../../api/reasons.ts';

/** What a code step is executed with. Values are JSON texts. */
export type CodeRequest = {
  source: string;
  nodes: [id: string, text: string][];
  values: [name: string, text: string][];
  /** The clock of the code, in milliseconds since 1970. */
  clockMs: number;
  /** The same seed gives the same random numbers. */
  seed: string;
  timeoutMs: number;
  memoryMiB: number;
  /** Compile the source and execute nothing: `json` is `null`. */
  compileOnly?: boolean;
};

export type CodeFailure = { reason: FailureReason; message: string };

export type CodeOutcome = { log: string } & ({ json: string } | { failure: CodeFailure });

export type CodeSandbox = {
  /**
   * Executes the code. The time that it waits for a thread is not part of its timeout.
   * @throws StepError when the signal is aborted
   */
  execute(request: CodeRequest, signal: AbortSignal): Promise<CodeOutcome>;
  /** Ends all threads. */
  close(): Promise<void>;
};
