/** The contract of a file store for skills: it writes one file and reads one file, both of bounded size. */
import { StepError } from '../../api/reasons.ts';
import type { CredentialAccess, StepContext } from './node.ts';

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
  /** @throws StepError, Failure */
  write(file: GivenFile): Promise<WrittenFile>;
  /**
   * `exportType`: as what a document that has no bytes of its own is wanted.
   * @throws StepError, Failure; StepError `OutputTooLarge` for more than `most` bytes, of which no more is
   * read
   */
  read(id: string, most: number, exportType: string | undefined): Promise<ReadFile>;
};

/** Opens the store that the credential leads to. */
export type OpenStore = (credential: CredentialAccess, context: StepContext) => Store;

export function tooLarge(most: number): StepError {
  return new StepError(
    'OutputTooLarge',
    `the file has more than ${most} bytes: raise maxBytes, or use a smaller one`,
  );
}
