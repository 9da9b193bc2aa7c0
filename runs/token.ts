/** What a claim token tells: `<runner>/<uid of the workflow>/<random>`. The store compares it as a whole. */

/** The runner that holds the claim. */
export function holderOf(token: string): string {
  return token.slice(0, token.lastIndexOf('/', token.lastIndexOf('/') - 1));
}

/** The uid of the workflow of the run that is claimed. */
export function workflowOf(token: string): string {
  return token.split('/').at(-2) ?? '';
}
