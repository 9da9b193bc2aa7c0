/**
 * Checks the access token of a connected account: logs in by IMAP if the credential reads mail so, else
 * requests the userinfo of the provider.
 */
import { userinfoOf } from '../../../api/provider.ts';
import { StepError } from '../../../api/reasons.ts';
import { accessToken, partOf, type CredentialAccess } from '../../contract/node.ts';
import { echoesOf, type Secret } from '../../contract/secret.ts';
import { type Check, CheckError } from '../../contract/check.ts';
import { ask, refusal } from '../../http/check.ts';
import { checkImap } from '../imap/check.ts';

export const checkOauth2: Check = async (credential, context) => {
  const oauth2 = partOf(credential, 'oauth2');
  const token = tokenOf(credential);
  const userinfoURL = userinfoOf(oauth2);
  if (oauth2.imap || userinfoURL === undefined) return checkImap(credential, context);
  if (!URL.canParse(userinfoURL)) throw new CheckError('Rejected', 'userinfoURL is not a URL: correct it');
  const headers = { authorization: `Bearer ${token.reveal()}` };
  const answer = await ask({ url: new URL(userinfoURL), headers }, context);
  if (answer.status === 200) return { message: `${answer.host} accepted the access token.` };
  // The account may be connected for other things than to be named.
  if (answer.status === 403) return { message: `${answer.host} accepted the access token.` };
  throw refusal(answer, 'the access token', echoesOf(token));
};

function tokenOf(credential: CredentialAccess): Secret {
  try {
    return accessToken(credential);
  } catch (error) {
    if (error instanceof StepError && error.reason === 'CredentialMissing')
      throw new CheckError('NotConnected', error.message);
    throw error;
  }
}
