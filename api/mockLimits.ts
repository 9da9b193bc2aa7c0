/** The limits of the mocks of a run, without their schema, so that the console can name them. */

/** Mocks of a run. */
export const MOST_MOCKS = 64;
/** Bytes of one mock, as JSON: as many as the record keeps of an output. */
export const MOCK_LIMIT_BYTES = 64 * 1024;
/** Bytes of all mocks of a run, as JSON. */
export const MOCKS_LIMIT_BYTES = 256 * 1024;
