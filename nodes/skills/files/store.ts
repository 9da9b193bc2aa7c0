/** What the skills for files need of a store, whatever it is: to write one file and to read one, both of bounded size. */
import { StepError } from '../../../api/reasons.ts';
import { BrokenOff } from '../../files/request.ts';
import { asStepError, Refusal } from '../../files/refusal.ts';
import { abortion, inDoubt, type StepContext } from '../../node.ts';

export type GivenFile = {
  /** Left out: the top of the store. */
  folderId: string | undefined;
  name: string;
  type: string;
  content: Buffer;
  overwrite: boolean;
};

export type WrittenFile = { id: string; name: string; type: string; size: number; url: string | null };

export type ReadFile = { id: string; name: string; type: string | null; content: Buffer };

export type Store = {
  /** @throws StepError, Refusal */
  write(file: GivenFile): Promise<WrittenFile>;
  /**
   * `exportType`: as what a document that has no bytes of its own is wanted.
   * @throws StepError, Refusal; StepError `OutputTooLarge` for more than `most` bytes, of which no more is read
   */
  read(id: string, most: number, exportType: string | undefined): Promise<ReadFile>;
};

/** What the step fails with. */
export function failureOf(error: unknown, { signal }: StepContext): unknown {
  if (error instanceof StepError) return error;
  return signal.aborted ? abortion(signal) : asStepError(error);
}

/**
 * Makes a change of the store. One that may have been made although it failed is reported as in doubt.
 * @throws StepError
 */
export async function changing<T>(context: StepContext, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOpen =
      context.signal.aborted ||
      (error instanceof BrokenOff && error.mayHaveArrived) ||
      (error instanceof Refusal && (error.kind === 'UpstreamError' || error.kind === 'InvalidAnswer'));
    const failure = context.signal.aborted ? abortion(context.signal) : failureOf(error, context);
    if (!isOpen || !(failure instanceof StepError)) throw failure;
    throw inDoubt(context.effect, failure, 'the file may have been written');
  }
}

export function tooLarge(most: number): StepError {
  return new StepError(
    'OutputTooLarge',
    `the file has more than ${most} bytes: raise maxBytes, or use a smaller one`,
  );
}
