/** The limits of the mocks of a run, without their schema, so that the console can name them. */

/** Mocks of a run. */
export const MOST_MOCKS = 64;
/** Bytes of all mocks of a run, as JSON. */
export const MOCKS_LIMIT_BYTES = 64 * 1024;
