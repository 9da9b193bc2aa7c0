/**
 * Schemas and the parser of the environment variables of programs. Pure: the caller passes the environment.
 */
import * as z from 'zod';
import { parseOrUndefined } from './parseOrUndefined.ts';
import { parseRunStoreURL } from './runStoreURL.ts';
import { durationProblem, parseDuration, type DurationBounds } from './duration.ts';

/** A whole number. */
export const integer = (least: number, most: number) => z.coerce.number().int().min(least).max(most);

/** A duration such as 30m, in milliseconds. */
export const durationText = (bounds: DurationBounds) =>
  z.string().transform((text, context): number => {
    const message = durationProblem(text, bounds);
    if (message === undefined) return parseDuration(text);
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

/** A comma-separated list. Empty items are dropped. */
export const commaList = z.string().transform((text) => text.split(',').flatMap((item) => item.trim() || []));

/** The URL of the run store, without user and password (`runStoreURL.ts`). */
export const redisURL = z.string().superRefine((url, context) => {
  try {
    parseRunStoreURL(url);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
  }
});

/** An HTTP URL without slashes at its end. */
export const httpURL = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));

export const logLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info');

/** A JSON text whose value matches the schema. Problems name the path in the value. */
export const jsonText = <T extends z.ZodType>(schema: T) =>
  z.string().transform((text, context): z.infer<T> => {
    const value = parseOrUndefined(text);
    if (value === undefined) {
      context.addIssue({ code: 'custom', message: 'must be JSON' });
      return z.NEVER;
    }
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path, message });
    return z.NEVER;
  });

/**
 * Parses the environment of a program. Empty variables count as unset.
 * Throws an Error that names every missing or invalid variable, never a value.
 */
export function parseEnvironment<T extends z.ZodType>(
  schema: T,
  env: Record<string, string | undefined>,
  program: string,
): z.infer<T> {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(`Invalid environment of the ${program}:\n  ${problems.join('\n  ')}`);
}
