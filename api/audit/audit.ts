/**
 * The audit trail of a program: each event becomes a line. What is allowed is always written, but for the uses of credentials; refused and
 * failed calls, which anybody may cause, and uses, which come as fast as runs, are written at a bounded rate, and what was left out is counted.
 */
import { createBoundedRate, type RateClock } from './boundedRate.ts';
import { auditLine, type AuditEntry, type AuditSource } from './line.ts';

export type Audit = {
  /** Writes the event. Never throws for what is in it. */
  record(entry: AuditEntry): void;
  /** Tells what was left out and not told yet. */
  close(): void;
};

export type AuditOptions = {
  source: AuditSource;
  /** Takes a whole line. */
  write: (line: string) => void;
  /** Lines a second about what was refused or failed, and about uses of credentials. */
  refusedPerSecond?: number;
  usesPerSecond?: number;
  clock: RateClock;
};

/** So many seconds' worth may come at once. */
const BURST_SECONDS = 5;

/** Records nothing. */
export const NO_AUDIT: Audit = { record: () => undefined, close: () => undefined };

export function createAudit(options: AuditOptions): Audit {
  const { source, write, refusedPerSecond = 10, usesPerSecond = 100, clock } = options;
  const put = (entry: AuditEntry): void => write(auditLine(source, clock.date(), entry));
  const bounded = (perSecond: number, reason: string) =>
    createBoundedRate({
      perSecond,
      burst: perSecond * BURST_SECONDS,
      onLeftOut: (count) => put({ event: 'audit.leftOut', result: 'failed', reason, count }),
      clock,
    });
  const refused = bounded(refusedPerSecond, 'refused');
  const uses = bounded(usesPerSecond, 'uses');
  const boundOf = ({ event, result }: AuditEntry) => {
    if (event === 'credential.use') return uses;
    return result === 'allowed' ? undefined : refused;
  };
  return {
    record: (entry) => {
      if (boundOf(entry)?.admit() !== false) put(entry);
    },
    close: () => {
      refused.close();
      uses.close();
    },
  };
}
