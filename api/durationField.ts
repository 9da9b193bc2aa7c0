/** Durations as fields of a schema; what their texts mean is in `duration.ts`. */
import * as z from 'zod';
import {
  DURATION_PATTERN,
  durationProblem,
  durationRule,
  parseDuration,
  type DurationBounds,
} from './duration.ts';
import { rules } from './value.ts';

/** The milliseconds of a duration in CEL of the API server, whose own durations have no days. A text that is none has 0. */
export const celMilliseconds = (self: string) =>
  `${self}.findAll('[0-9]+([.][0-9]+)?(ms|s|m|h|d)').map(p, double(p.find('^[0-9.]+')) * (${celUnit})).sum()`;

const celUnit =
  "p.endsWith('ms') ? 1.0 : p.endsWith('s') ? 1000.0 : p.endsWith('m') ? 60000.0 : p.endsWith('h') ? 3600000.0 : 86400000.0";

/** A duration field. The API server refuses what is beyond the bounds, and its message names them. */
export const duration = (description: string, bounds: DurationBounds) =>
  z
    .string()
    .max(32)
    .refine((text) => durationProblem(text, bounds) === undefined, { error: durationRule(bounds) })
    .meta({
      description: `${description} From ${bounds.least} to ${bounds.most}.`,
      'x-windlass-duration': bounds,
      // A rule in the place of a pattern, of which the API server would show nothing but the pattern.
      ...rules({
        rule: `self.matches(${JSON.stringify(DURATION_PATTERN)}) && [${celMilliseconds('self')}].all(ms, ms >= ${celNumber(bounds.least)} && ms <= ${celNumber(bounds.most)})`,
        message: durationRule(bounds),
      }),
    });

function celNumber(text: string): string {
  return parseDuration(text).toFixed(1);
}
