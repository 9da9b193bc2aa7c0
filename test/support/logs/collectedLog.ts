/** A log that keeps what was said, for tests that ask whether it was. */
import type { Log } from '../../../kube/log.ts';

type LogEntry = { level: keyof Log; fields: object; message: string };

export type CollectedLog = Log & { entries: LogEntry[]; messages(level?: keyof Log): string[] };

export function createCollectedLog(): CollectedLog {
  const entries: LogEntry[] = [];
  const at = (level: keyof Log) => (fields: object, message: string) => {
    entries.push({ level, fields, message });
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    entries,
    messages: (level) =>
      entries.filter((entry) => level === undefined || entry.level === level).map((entry) => entry.message),
  };
}
