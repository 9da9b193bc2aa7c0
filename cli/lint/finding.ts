/** What `lint` finds. */
import type { Place } from '../shared/manifests.ts';

export type Severity = 'error' | 'warning';

export type Finding = Place & {
  file: string;
  severity: Severity;
  /** `YAML`, `Schema`, or the reason of the condition that the operator would set. */
  rule: string;
  message: string;
  /** `Workflow/orders`; left out where no object could be read. */
  object?: string;
};

/** In the order of files, lines and columns. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  return findings.toSorted(
    (one, other) =>
      one.file.localeCompare(other.file) ||
      one.line - other.line ||
      one.column - other.column ||
      one.message.localeCompare(other.message),
  );
}
