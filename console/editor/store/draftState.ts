/** What the editor knows about the stored draft. */
import type { DraftObject } from '../../kube/resources.ts';
import type { Draft } from '../model/model.ts';

export type DraftState =
  /** Nothing is being stored: what is shown is stored, is what is published, or is stored soon. */
  | { kind: 'idle' }
  | { kind: 'saving' }
  /** `isPassing`: it is tried again. */
  | { kind: 'failed'; why: string; isPassing: boolean }
  /** The draft contains what looks like a key; it is not stored. */
  | { kind: 'withheld'; place: string }
  /** Somebody else changed the same part of the draft. */
  | { kind: 'conflict'; theirs: DraftObject }
  /** The stored draft belongs to a deleted workflow of the same name, or cannot be read. */
  | { kind: 'foreign'; object: DraftObject };

/** The draft that the API server has, as far as this page knows. */
export type Stored = { object: DraftObject; draft: Draft; text?: string };

/** A write of the draft whose answer did not arrive. */
export type Unanswered = Omit<Stored, 'object'> & { content: DraftObject['spec'] };

/** `same`: there was nothing to write. `failed`: the state says why. */
export type DraftResult = 'written' | 'same' | 'failed';
