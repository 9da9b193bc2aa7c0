/** From a credential to the store that it leads to. */
import { StepError } from '../../api/reasons.ts';
import type { StepContext } from '../node.ts';
import { driveStore } from '../providers/google/driveStore.ts';
import { s3Store } from '../providers/s3/store.ts';
import type { Store } from '../files/store.ts';

/** @throws StepError `CredentialMissing`, or `InvalidParameters` for a credential that has no files */
export async function openStore(context: StepContext, name = ''): Promise<Store> {
  const credential = await context.credential(name);
  const { s3, oauth2 } = credential.spec;
  if (s3) return s3Store(credential, context);
  // A token of another provider is not shown to Google.
  if (oauth2?.preset === 'google' || (oauth2?.preset !== 'microsoft' && oauth2?.apiURL !== undefined))
    return driveStore(credential, context);
  throw new StepError(
    'InvalidParameters',
    `credential ${credential.name} has no files: use one of kind s3, or of kind oauth2 with the preset google`,
  );
}
