/** Messages of the operator about a workflow as lists of problems, with the names of its nodes. Pure. */
import { withKeptRevision } from '../../api/keptRevision.ts';
import type { WorkflowNode } from '../../api/workflow.ts';
import { labelOf } from '../forms/labels.ts';
import { NODE_PLACES } from '../forms/place.ts';
import { capitalized } from '../ui/format.ts';
import { nameInSentence } from '../ui/visibleText.ts';
import { isKindName, nodeName } from './kinds.ts';
import { operatorWords } from './operatorWords.ts';

/** The message with the names of these nodes, as far as they are known, and the labels of fields. */
export function conditionText(message: string, nodes: readonly WorkflowNode[] = []): string {
  const current = withKeptRevision(
    message,
    (revision) => `Until then, events run the earlier version ${revision}.`,
  );
  return operatorWords(current).replaceAll(NODE_PLACES, (_place, id: string, path: string, is = '') => {
    const field = fieldText(path);
    const end = is === '' ? ': ' : ' ';
    return `${nodeName(id, nodes)}: ${field === '' ? '' : `${field}${end}`}${is}`;
  });
}

/** The problem of the node with this ID, where it is shown at the node: "To is missing". */
export function ownProblemText(id: string, message: string): string {
  const text = conditionText(message);
  const place = [`${nameInSentence(id)}: `, `node ${id} `].find((each) => text.startsWith(each));
  return place === undefined ? text : capitalized(text.slice(place.length));
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
