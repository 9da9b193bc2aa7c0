/** What is wrong with the credential that a field names. Fields, the canvas and lists use these words. */
import { credentialKindsText, NOT_CHOSEN } from './choices.ts';

/** The project has no credential of this name. */
export function missingText(name: string): string {
  return name === NOT_CHOSEN
    ? 'Choose a credential, or create one.'
    : `Credential ${name} does not exist in this project. Create it or choose another one.`;
}

/** The credential is of a kind that the field does not take. Follows its name, without a full stop. */
export function otherKindText(kind: string, needed: readonly string[]): string {
  return `is for ${credentialKindsText([kind])}: choose one for ${credentialKindsText(needed)}`;
}
