/**
 * Messages of the operator about workflows in the words of the console, the same in lists, on the canvas and
 * beside fields. Places of problems stay as they are. A test compares the patterns with what the operator
 * says. Pure.
 */
import { credentialKindsText, NOT_CHOSEN } from '../credentials/kindLabels.ts';
import { CONNECT_REMEDY, withoutRequest } from '../credentials/connectText.ts';
import { missingCredentialText, wrongKindText } from '../credentials/fitText.ts';
import { uncapitalized } from '../ui/format.ts';

/** In the console nodes are added to a group on the canvas. */
const NO_BODY = /the group has no body: set within: \w+(?: on the nodes that belong to it)?/g;
const NO_CREDENTIAL = /credential is missing: \w+ needs the name of a Credential of kind (\w+(?: or \w+)*)/g;
const WRONG_KIND = /is of kind (\w+), the node needs (\w+(?: or \w+)*): name another one/g;
const GONE = /Credential (\S+) does not exist in this namespace: apply it, or name another one/g;
const NO_HOST =
  /names no host that it may be sent to: add (".*?"|the host of the node's url) to its spec\.oauth2\.allowedHosts/g;
const EDGES = /\b(an|no|one|only|the) edge(s?)\b/g;

export function operatorWords(message: string): string {
  return withoutRequest(message, CONNECT_REMEDY)
    .replaceAll(NO_BODY, 'the group has no nodes: add the first one')
    .replaceAll(
      NO_CREDENTIAL,
      (_text, kinds: string) => `choose a credential for ${credentialKindsText(kinds.split(' or '))}`,
    )
    .replaceAll(WRONG_KIND, (_text, kind: string, needed: string) =>
      wrongKindText(kind, needed.split(' or ')),
    )
    .replaceAll(GONE, (_text, name: string) => {
      // Without the full stop: the message goes on with one, or with what separates it from the next problem.
      const text = missingCredentialText(name).slice(0, -1);
      return name === NOT_CHOSEN ? uncapitalized(text) : text;
    })
    .replaceAll(
      NO_HOST,
      (_text, host: string) =>
        `may not be sent to any host by HTTP requests: edit it, and add ${host} to Allowed hosts`,
    )
    .replaceAll(
      EDGES,
      (_text, word: string, plural: string) => `${word === 'an' ? 'a' : word} connection${plural}`,
    );
}

/** Whether the message says that a node, or a tool, names no credential. */
export function isWithoutCredential(message: string): boolean {
  return message.search(NO_CREDENTIAL) >= 0;
}
