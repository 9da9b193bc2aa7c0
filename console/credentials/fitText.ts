/** What is wrong with the credential that a field names. Fields, the canvas and lists use these words. */
import { textCell, type Row } from '../kube/table.ts';
import { nameInSentence } from '../ui/visibleText.ts';
import { credentialKindsText, NOT_CHOSEN } from './kindLabels.ts';

/** The project has no credential of this name, which a colleague or a model may have written as any text. */
export function missingCredentialText(name: string): string {
  return name === NOT_CHOSEN
    ? 'Choose a credential, or create one.'
    : `Credential ${nameInSentence(name)} does not exist in this project. Create it or choose another one.`;
}

/**
 * Why a field for these kinds does not take the credential. Empty kinds: it is not known which ones it takes.
 * `table`: the credentials of the project, if they are known.
 */
export function misfitText(
  name: string | undefined,
  kinds: readonly string[],
  table: { rows: readonly Row[]; more: boolean } | undefined,
): string | undefined {
  if (name === undefined || table === undefined) return undefined;
  const row = table.rows.find(({ metadata }) => metadata.name === name);
  if (row === undefined) return table.more ? undefined : missingCredentialText(name);
  const kind = textCell(row, 'Kind');
  if (kind === undefined || kinds.length === 0 || kinds.includes(kind)) return undefined;
  return `Credential ${nameInSentence(name)} ${wrongKindText(kind, kinds)}.`;
}

/** The credential is of a kind that the field does not take. Follows its name, without a full stop. */
export function wrongKindText(kind: string, needed: readonly string[]): string {
  return `is for ${credentialKindsText([kind])}: choose one for ${credentialKindsText(needed)}`;
}
