/**
 * The audit trail of a program: one line for each event. Allowed events are always written, except uses of
 * credentials. Denied and failed events, which anybody may cause, and uses of credentials, which are as
 * frequent as runs, are written at a bounded rate; lines beyond it are counted.
 */
import { createBoundedRate, type RateClock } from './boundedRate.ts';
import { auditLine, type AuditEntry, type AuditSource } from './line.ts';

export type Audit = {
  /** Writes the event. Does not throw, whatever the entry holds. */
  record(entry: AuditEntry): void;
  /** Writes the counts of left out lines that were not written yet. */
  close(): void;
};

export type AuditOptions = {
  source: AuditSource;
  /** Writes one whole line. */
  write: (line: string) => void;
  /** The most lines per second about denied and failed events, and about uses of credentials. */
  refusedPerSecond?: number;
  usesPerSecond?: number;
  clock: RateClock;
};

/** The burst, in seconds of the rate. */
const BURST_SECONDS = 5;

/** An audit trail that writes nothing. */
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
