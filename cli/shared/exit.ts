/** How a command ends: its exit codes, and the error that ends it with a sentence and no stack trace. */

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  input: 3,
  cluster: 4,
  missing: 5,
  internal: 70,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What each exit code means, for `--help` and the reference. */
export const EXIT_CODES: Readonly<Record<ExitCode, string>> = {
  [EXIT.ok]: 'The command did what was asked, and found nothing wrong.',
  [EXIT.failed]:
    'The command worked, and its answer is no: a manifest has errors, a run or a test failed, or an export could not be converted.',
  [EXIT.usage]: 'The command line is wrong: an unknown command or option, or a missing argument.',
  [EXIT.input]:
    'A file that the command line names cannot be read, written or used, or this machine lacks a program that the command needs.',
  [EXIT.cluster]:
    'The cluster cannot be used: it does not answer, the context does not exist, the token has expired, or a right is missing.',
  [EXIT.missing]: 'The cluster does not have the object that the command line names.',
  [EXIT.internal]: 'A defect of windlass. WINDLASS_DEBUG=1 shows where.',
};

/** Ends the command: its message is printed alone, and the process exits with `code`. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: ExitCode;

  /** `message`: what is wrong, then what to do. */
  constructor(code: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
