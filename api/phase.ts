/** The phases of runs and nodes. Separate from the schemas, for programs that must load little. */

export const RUN_PHASES = ['Pending', 'Running', 'Waiting', 'Succeeded', 'Failed', 'Cancelled'] as const;
export type RunPhase = (typeof RUN_PHASES)[number];
export const TERMINAL_PHASES = ['Succeeded', 'Failed', 'Cancelled'] as const;
export type TerminalPhase = (typeof TERMINAL_PHASES)[number];

export const NODE_PHASES = [...RUN_PHASES, 'Skipped', 'Unknown'] as const;
export type NodePhase = (typeof NODE_PHASES)[number];

/** Whether the phase is terminal: it never changes again. */
export function isTerminal(phase: string | undefined): phase is TerminalPhase {
  return TERMINAL_PHASES.some((terminal) => terminal === phase);
}
