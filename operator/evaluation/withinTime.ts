/**
 * Ends work that takes too long: patterns, schemas and lists that an author writes must not block the
 * operator, which all projects share.
 */
import { createContext, Script } from 'node:vm';
import { isRecord } from '../../api/record.ts';

/** The work takes too long. The message says which. */
export class TooSlow extends Error {}

/** Only the execution of a script can be ended from outside, also within a regular expression. */
const CALL = new Script('work()');

/**
 * What the work returns, which must be synchronous. `what`: the subject of the message.
 * @throws TooSlow after `limitMs` milliseconds
 */
export function withinTime<T>(what: string, limitMs: number, work: () => T): T {
  try {
    return CALL.runInContext(createContext({ work }), { timeout: limitMs }) as T;
  } catch (error) {
    // An Error of the other context.
    if (!isRecord(error) || error['code'] !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new TooSlow(`${what} takes more than ${limitMs / 1_000} s`, { cause: error });
  }
}
