/** Messages of the operator about a workflow, in the words of the console. Pure. */
import { withKeptRevision } from '../../api/keptRevision.ts';
import type { WorkflowNode } from '../../api/workflow.ts';
import { credentialKindsText } from '../credentials/choices.ts';
import { CONNECT_REMEDY, withoutRequest } from '../credentials/connectText.ts';
import { labelOf } from '../forms/labels.ts';
import { isKindName, nodeName } from './kinds.ts';

/** A node with the path of a field: `node ask: skill: parameters: url: `, or `node ask: agent.prompt: `. */
const PLACE = /(?<=^|[;.] |\n)node '?([A-Za-z]\w*)'?: ((?:(?:[a-z][\w.]*|\d+)(?:\[\d+\])*: )*)(is )?/g;
const NO_BODY = /the group has no body: set within: \w+(?: on the nodes that belong to it)?/g;
const NO_CREDENTIAL = /credential is missing: \w+ needs the name of a Credential of kind (\w+(?: or \w+)*)/g;
const WRONG_KIND = /is of kind (\w+), the node needs (\w+(?: or \w+)*): name another one/g;

const kindsText = (written: string): string => credentialKindsText(written.split(' or '));

/** The message with the names of these nodes, as far as they are known, and the labels of fields. */
export function conditionText(message: string, nodes: readonly WorkflowNode[] = []): string {
  return withKeptRevision(
    withoutRequest(message, CONNECT_REMEDY),
    (revision) => `Until then, events run the earlier version ${revision}.`,
  )
    .replaceAll(PLACE, (_place, id: string, path: string, is = '') => {
      const field = fieldText(path);
      const end = is === '' ? ': ' : ' ';
      return `${nodeName(id, nodes)}: ${field === '' ? '' : `${field}${end}`}${is}`;
    })
    .replaceAll(NO_BODY, 'the group has no nodes: add the first one')
    .replaceAll(NO_CREDENTIAL, (_text, kinds: string) => `choose a credential (${kindsText(kinds)})`)
    .replaceAll(
      WRONG_KIND,
      (_text, kind: string, needed: string) =>
        `is for ${kindsText(kind)}, and the node needs one for ${kindsText(needed)}: choose another one`,
    )
    .replaceAll(/\b(no|only) edge(s?)\b/g, '$1 connection$2')
    .replaceAll(
      'does not exist in this namespace: apply it, or name another one',
      'does not exist in this project: create it, or choose another one',
    );
}

/** `Tools 1 › Name` for `agent: tools: 0: name: `, without the kind of the node. */
function fieldText(path: string): string {
  const names = path.split(/: |\.|\[|\]/).filter((name) => name !== '' && name !== 'parameters');
  const [first = '', ...rest] = names;
  const labels = (isKindName(first) ? rest : names).reduce<string[]>(
    (found, name) =>
      /^\d+$/.test(name) && found.length > 0
        ? [...found.slice(0, -1), `${found.at(-1) ?? ''} ${Number(name) + 1}`]
        : [...found, labelOf(name)],
    [],
  );
  return labels.join(' › ');
}
