/** Checks a credential of kind http by requesting its `checkURL`. */
import { authorityFor } from './authority.ts';
import { partOf } from '../../contract/node.ts';
import { type Check, CheckError } from '../../contract/check.ts';
import { ask, refusal } from '../../http/check.ts';

export const checkHttp: Check = async (credential, context) => {
  const { checkURL = '' } = partOf(credential, 'http');
  if (!URL.canParse(checkURL)) throw new CheckError('Rejected', 'checkURL is not a URL: correct it');
  const url = new URL(checkURL);
  const authority = authorityFor(credential, url);
  const answer = await ask({ url, login: authority.login }, context);
  if (answer.status >= 200 && answer.status < 400)
    return { message: `${answer.host} accepted the credential.` };
  throw refusal(answer, 'the credential', authority.secrets);
};
