/**
 * Messages of the operator about workflows in the words of the console, the same in lists, on the canvas and
 * beside fields. Places of problems stay as they are. A test compares the patterns with what the operator
 * says. Pure.
 */
import { credentialKindsText, NOT_CHOSEN } from '../credentials/choices.ts';
import { CONNECT_REMEDY, withoutRequest } from '../credentials/connectText.ts';

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
    .replaceAll(NO_CREDENTIAL, (_text, kinds: string) => `choose a credential for ${kindsText(kinds)}`)
    .replaceAll(
      WRONG_KIND,
      (_text, kind: string, needed: string) =>
        `is for ${kindsText(kind)}: choose one for ${kindsText(needed)}`,
    )
    .replaceAll(GONE, (_text, name: string) =>
      name === NOT_CHOSEN
        ? 'choose a credential, or create one'
        : `Credential ${name} does not exist in this project: create it, or choose another one`,
    )
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

function kindsText(written: string): string {
  return credentialKindsText(written.split(' or '));
}
