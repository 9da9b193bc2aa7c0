/** Opens the file store that a credential leads to. */
import { StepError } from '../../api/reasons.ts';
import type { Store } from '../contract/store.ts';
import type { StepContext } from '../contract/node.ts';
import { findProvider, titlesFor } from '../providers/register.ts';

/**
 * @throws StepError `CredentialMissing`, or `InvalidParameters` for a credential that leads to no store of
 * files
 */
export async function openStore(context: StepContext, name = ''): Promise<Store> {
  const credential = await context.credential(name);
  const provider = findProvider(credential.spec, 'store');
  if (provider) return (await provider.store())(credential, context);
  throw new StepError(
    'InvalidParameters',
    `credential ${credential.name} has no files: use one of ${titlesFor('store')}`,
  );
}
