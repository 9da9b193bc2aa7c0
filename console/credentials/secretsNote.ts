/** What happens to the Secrets of a credential when it is deleted. Pure. */
import type { CredentialObject } from '../kube/resources.ts';
import { entriesOf } from './build.ts';
import { secretNameOf } from './save.ts';

/** A sentence for each Secret that the credential refers to. */
export function secretsNote({ metadata, spec }: Pick<CredentialObject, 'metadata' | 'spec'>): string[] {
  const entries = Object.values(entriesOf({ ...spec }).secrets);
  const names = new Set(entries.flatMap((entry) => (entry.kind === 'stored' ? entry.ref.name : [])));
  const own = secretNameOf(metadata.name);
  return [...names].map((name) =>
    // The console creates Secrets of these names only; another tool may have created one before.
    name === own || name.startsWith(`${own}-`)
      ? `The Secret "${name}" is deleted too, if the console created it.`
      : `The Secret "${name}" is kept.`,
  );
}
