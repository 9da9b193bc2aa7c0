/** Durations as fields of a schema. `duration.ts` parses them. */
import * as z from 'zod';
import {
  DURATION_PATTERN,
  durationProblem,
  durationRule,
  parseDuration,
  type DurationBounds,
} from './duration.ts';
import { rules } from './value.ts';

/**
 * CEL for the milliseconds of a duration: durations of the API server have no days. An invalid text has 0.
 */
export const celMilliseconds = (self: string) =>
  `${self}.findAll('[0-9]+([.][0-9]+)?(ms|s|m|h|d)').map(p, double(p.find('^[0-9.]+')) * (${celUnit})).sum()`;

const celUnit =
  "p.endsWith('ms') ? 1.0 : p.endsWith('s') ? 1000.0 : p.endsWith('m') ? 60000.0 : p.endsWith('h') ? 3600000.0 : 86400000.0";

/** A duration field. The API server refuses durations beyond the bounds, with a message that names them. */
export const duration = (description: string, bounds: DurationBounds) =>
  z
    .string()
    .max(32)
    .refine((text) => durationProblem(text, bounds) === undefined, { error: durationRule(bounds) })
    .meta({
      description: `${description} ${bounds.hasZero ? '0s, or from' : 'From'} ${bounds.least} to ${bounds.most}.`,
      'x-windlass-duration': bounds,
      // A rule instead of a pattern: the API server would show only the pattern.
      ...rules({
        rule: `self.matches(${JSON.stringify(DURATION_PATTERN)}) && [${celMilliseconds('self')}].all(ms, ${bounds.hasZero ? 'ms == 0.0 || ' : ''}ms >= ${celNumber(bounds.least)} && ms <= ${celNumber(bounds.most)})`,
        message: durationRule(bounds),
      }),
    });

function celNumber(text: string): string {
  return parseDuration(text).toFixed(1);
}
