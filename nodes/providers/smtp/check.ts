/** Checks an account by connecting and logging in at the mail server. No mail is sent. */
import { partOf } from '../../contract/node.ts';
import { greet } from './delivery.ts';
import type { Check } from '../../contract/check.ts';

export const checkSmtp: Check = async (credential, context) => {
  const smtp = partOf(credential, 'smtp');
  const password = smtp.passwordRef && credential.secret(smtp.passwordRef);
  await greet({ smtp, password }, context);
  if (password === undefined) return { message: `${smtp.host} answers; no login is asked for.` };
  return {
    message: `${smtp.host} accepted the login.`,
    ...(smtp.username !== undefined && { account: smtp.username }),
  };
};
