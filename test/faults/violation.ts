/** A promise that was broken, as all checks of fault runs tell it. */

export type ViolationKind =
  | 'lost'
  | 'never-accepted'
  | 'twice'
  | 'effect-twice'
  | 'effect-missing'
  | 'effect-under-two-keys'
  | 'effect-of-nothing'
  | 'effect-after-end'
  | 'node-ended-twice'
  | 'another-run'
  | 'key-lost'
  | 'accepted-differs'
  | 'phase-changed'
  | 'late'
  | 'failed'
  | 'refused-and-run'
  | 'wrong-answer'
  | 'totals-differ'
  | 'listed-otherwise'
  | 'dropped'
  | 'not-executed'
  | 'not-recorded'
  | 'bad-refusal'
  | 'late-return'
  | 'restarted'
  | 'too-busy'
  | 'too-talkative';

/** `event` and `run` say what to print in full; one of them is always there but for totals. */
export type Violation = { kind: ViolationKind; message: string; event?: string; run?: string };
