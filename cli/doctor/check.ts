/** What `windlass doctor` finds. */

export type Check = {
  name: string;
  result: 'ok' | 'warning' | 'error';
  message: string;
  /** What helps; left out where nothing is wrong. */
  command?: string;
};

export const ok = (name: string, message: string): Check => ({ name, result: 'ok', message });

export const warning = (name: string, message: string, command: string): Check => ({
  name,
  result: 'warning',
  message,
  command,
});

export const failure = (name: string, message: string, command: string): Check => ({
  name,
  result: 'error',
  message,
  command,
});
