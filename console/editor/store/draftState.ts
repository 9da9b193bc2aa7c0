/** Whether the draft is stored, and why not. */
import type { DraftObject } from '../../kube/resources.ts';
import type { Draft } from '../model/model.ts';

export type DraftState =
  /** No write is in progress. The draft is stored, equals the published version, or is stored soon. */
  | { kind: 'idle' }
  | { kind: 'saving' }
  /** `isPassing`: the failure is temporary, and the write is retried. */
  | { kind: 'failed'; why: string; isPassing: boolean }
  /** The draft contains text that looks like a secret key, and is not stored. `place`: where. */
  | { kind: 'withheld'; place: string }
  /** Somebody else changed the same part of the draft. */
  | { kind: 'conflict'; theirs: DraftObject }
  /** The stored draft belongs to a deleted workflow of the same name, or cannot be displayed. */
  | { kind: 'foreign'; object: DraftObject };

/** The draft that the API server has, as far as this page knows. */
export type Stored = { object: DraftObject; draft: Draft; text?: string };

/** A write of the draft whose answer did not arrive. */
export type Unanswered = Omit<Stored, 'object'> & { content: DraftObject['spec'] };

/** The result of `saveDraft`. `unchanged`: there was nothing to write. `failed`: `DraftState` says why. */
export type DraftResult = 'written' | 'unchanged' | 'failed';
