/**
 * Messages of the operator say how to connect an account over HTTP. In the console there is a button for it.
 * Pure.
 */

/** As `operator/oauth/connection.ts` and `operator/credential/problems.ts` write it; a test compares them. */
const OVER_HTTP =
  /(?:To connect it, |Connect it again: )POST to \S+(?: with a Kubernetes token,)? and open the link in the response\.?/gi;

/** The message with `remedy` in place of the HTTP request. */
export function withoutRequest(message: string, remedy = ''): string {
  return message.replaceAll(OVER_HTTP, remedy).trim();
}

/** What a page says that has no button for it: the list and the editor of workflows. */
export const CONNECT_REMEDY = 'Click Connect at the credential.';
