/**
 * The logger interface, a subset of pino, and the format of a line. Messages are constant; variable data is
 * in the fields.
 */

export type Log = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/**
 * Options of pino for lines with the time in UTC (RFC 3339), as in the audit trail, and the name of the
 * level.
 */
export const LINE_FORMAT = {
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  formatters: { level: (level: string) => ({ level }) },
};
