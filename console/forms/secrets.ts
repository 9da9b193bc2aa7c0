/** Secrets that a form names and that do not exist, with the command that creates them. Pure. */
import { valuesOf } from './values.ts';

type MissingSecret = { message: string; command: string };

/** `names`: those of all Secrets of the namespace; undefined: unknown. */
export function missingSecret(
  value: unknown,
  names: readonly string[] | undefined,
  namespace: string,
): MissingSecret | undefined {
  const { name, key } = valuesOf(value);
  if (typeof name !== 'string' || name === '' || names === undefined || names.includes(name))
    return undefined;
  const member = typeof key === 'string' && key !== '' ? key : 'KEY';
  return {
    message: `There is no Secret ${name} in ${namespace}, so the workflow cannot be activated. Create it:`,
    command: `kubectl create secret generic ${name} --namespace ${namespace} --from-literal=${member}=VALUE`,
  };
}
