/** Which credentials need somebody: those that do not work, and those whose access ends without being renewed by itself. */
import { textCell, type Row } from '../kube/table.ts';
import { reasonWords } from '../workflows/items.ts';

export type CredentialCare = {
  name: string;
  kind: string;
  isBroken: boolean;
  /** In a few words. */
  label: string;
  message: string;
};

/** Broken ones first. An access that is renewed by itself has an end, too, often within the hour: the reason tells the two apart. */
export function credentialsInNeed(rows: Row[]): CredentialCare[] {
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
          label: reasonWords(reason === '' ? 'NotReady' : reason),
          message: textCell(row, 'Message') ?? '',
        },
      ];
    })
    .toSorted((a, b) => Number(b.isBroken) - Number(a.isBroken) || a.name.localeCompare(b.name));
}
