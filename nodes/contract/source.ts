/**
 * The contract of a file store for triggers: it reports what changed since a position, and stores nothing
 * itself.
 */
import * as z from 'zod';
import type { FileStorageTrigger } from '../../api/trigger.ts';
import type { CredentialAccess } from './node.ts';
import type { PollContext } from './poller.ts';
import type { Known } from './known.ts';

/** A file as the trigger shows it, and a version that is another one after each change of what is in it. */
const seenFile = z.object({
  id: z.string(),
  version: z.string(),
  name: z.string(),
  mimeType: z.string().nullable(),
  size: z.number().nullable(),
  modified: z.string(),
  folder: z.string().nullable(),
  url: z.string().nullable(),
});
export type SeenFile = z.infer<typeof seenFile>;

export const change = z.object({ event: z.enum(['added', 'modified']), file: seenFile });
export type Change = z.infer<typeof change>;

/** What a poll of the store came to. */
export type Seen = {
  changes: Change[];
  /** From where the next poll continues: small. */
  position: unknown;
  /** More is to be seen at once. */
  more: boolean;
  /** What is known from now on; undefined: what was known before. */
  known?: Known;
};

/** How far a poll has come: where it is told to end it returns what it has, if it has anything. */
export type Extent = {
  known: Known;
  context: PollContext;
  /** Whether so many changes were found that they are to be handed on first. */
  isMuch(changes: readonly Change[]): boolean;
};

export type Source = {
  /** Whose files they are: where it is another, the cursor means nothing. */
  place: string;
  /** Where a trigger begins that shall see what comes from now on, or what changed since then. */
  first(since?: Date): unknown;
  /**
   * What is new since the position; undefined where that means nothing any more. While a beginning is made
   * there are no changes.
   * @throws PollError, StepError, Failure
   */
  poll(position: unknown, extent: Extent): Promise<Seen | undefined>;
  /** What is only asked of files that are shown. Undefined: it is gone. Left out: nothing. */
  complete?(file: SeenFile, context: PollContext): Promise<SeenFile | undefined>;
  /** Why a position was lost, in words. */
  lost: string;
};

/** Opens the store of files that the credential leads to. */
export type OpenSource = (
  credential: CredentialAccess,
  trigger: FileStorageTrigger,
  context: PollContext,
) => Source | Promise<Source>;
