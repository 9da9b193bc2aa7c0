/** The audit trail of a program, as tests read it. */
import { AUDIT_LOGGER } from '../../../api/audit/line.ts';

export type AuditLine = {
  event: string;
  result: string;
  user?: { name: string; groups?: string[] };
  object?: { kind: string; namespace?: string; name?: string; uid?: string };
} & Record<string, unknown>;

/** The lines of the trail among all that a program has logged; of one kind of event if one is given. */
export function auditTrail(log: readonly string[], event?: string): AuditLine[] {
  return log
    .filter((line) => line.includes(AUDIT_LOGGER))
    .map((line) => JSON.parse(line) as AuditLine)
    .filter((line) => event === undefined || line.event === event);
}
