import type { Pulse } from '../../../runs/pulse.ts';

/** The pulse of a runner that is alone in a project without work. */
export const NO_WORK: Pulse = {
  runners: 1,
  hasReady: false,
  hasClaims: false,
  hasCancels: false,
  hasFailures: false,
  hasPolls: false,
  memoriesMs: undefined,
  checksMs: undefined,
  registrationsMs: undefined,
  parkedMs: undefined,
  unrecordedMs: undefined,
};
