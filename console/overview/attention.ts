/** Credentials that need attention: those that do not work, and those that expire without renewal. */
import { textCell, type Row } from '../kube/table.ts';
import { reasonLabel } from '../workflows/items.ts';

export type CredentialAttention = {
  name: string;
  kind: string;
  isBroken: boolean;
  label: string;
  message: string;
};

/**
 * Broken credentials come first. Renewed tokens expire too, often within an hour: the reason tells them
 * apart.
 */
export function credentialsNeedingAttention(rows: Row[]): CredentialAttention[] {
  return rows
    .flatMap((row) => {
      const reason = textCell(row, 'Reason') ?? '';
      const isBroken = textCell(row, 'Ready') === 'False';
      if (!isBroken && !['Expiring', 'MissingScope'].includes(reason)) return [];
      return [
        {
          name: row.metadata.name,
          kind: textCell(row, 'Kind') ?? '',
          isBroken,
          label: reasonLabel(reason === '' ? 'NotReady' : reason),
          message: textCell(row, 'Message') ?? '',
        },
      ];
    })
    .toSorted((a, b) => Number(b.isBroken) - Number(a.isBroken) || a.name.localeCompare(b.name));
}
