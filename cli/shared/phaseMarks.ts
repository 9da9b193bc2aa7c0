/** The sign and colour of each phase of a node. */
import type { NodePhase } from '../../api/phase.ts';
import type { Terminal } from './terminal.ts';

type Colour = Parameters<Terminal['paint']>[0];

export const MARKS: Partial<Record<NodePhase, readonly [mark: string, colour: Colour]>> = {
  Succeeded: ['✓', 'green'],
  Failed: ['✗', 'red'],
  Unknown: ['?', 'red'],
  Cancelled: ['✗', 'yellow'],
  Skipped: ['–', 'dim'],
  Waiting: ['…', 'yellow'],
};

const RUN_COLOURS: Readonly<Record<string, Colour>> = {
  Succeeded: 'green',
  Failed: 'red',
  Cancelled: 'yellow',
  Waiting: 'yellow',
  Running: 'cyan',
};

/** The colour of the phase of a run. */
export const colourOf = (phase: string): Colour => RUN_COLOURS[phase] ?? 'dim';
