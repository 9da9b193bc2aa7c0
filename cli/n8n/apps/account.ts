/** What n8n has in a credential and a Credential has not: addresses and numbers of an account. */
import type { Part } from '../expressions/expression.ts';
import type { NodeContext } from '../steps/context.ts';

/**
 * The value as a variable of the project, such as `$vars.shop_url` of the Credential `shop`. A person sets
 * the variable, as the Secret of the Credential.
 */
export function accountValue(context: NodeContext, credential: string, name: string): Part {
  const variable = `${credential.replaceAll(/[^A-Za-z0-9]+/g, '_').replace(/^(?=\d)/, '_')}_${name}`;
  context.note(
    'converted',
    `set the variable ${variable}, which n8n has in the credential, in the ConfigMap windlass-variables`,
  );
  return { code: `$account.${variable}` };
}
