/**
 * The logger that this folder needs: what pino offers, and the form of a line. Messages are constant, what
 * varies is in the fields.
 */

export type Log = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/**
 * Options of pino with which lines have the time in UTC (RFC 3339), as those of the audit trail, and the name
 * of the level.
 */
export const LINE_FORMAT = {
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  formatters: { level: (level: string) => ({ level }) },
};
