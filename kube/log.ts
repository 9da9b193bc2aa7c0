/** The logger that this folder needs: what pino offers. Messages are constant, what varies is in the fields. */

export type Log = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};
