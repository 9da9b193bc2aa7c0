/** What a caller gets where n8n answers with the data of the last node: a node at the end of the workflow. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import { memberOf, textOf } from '../model/json.ts';
import type { Items } from '../steps/items.ts';
import type { N8nNode } from '../model/n8n.ts';
import { withShim } from '../shim/shim.ts';

/** Whether the trigger answers with what the last node returns. */
export function answersWithLast(trigger: N8nNode): 'chat' | 'webhook' | undefined {
  const { type, parameters } = trigger;
  if (/\.(?:manualChatTrigger|chatTrigger)$/.test(type)) return 'chat';
  return type === 'n8n-nodes-base.webhook' && parameters['responseMode'] === 'lastNode'
    ? 'webhook'
    : undefined;
}

/** The nodes of the answer. The first one is where edges from the last nodes lead to. */
export function answerNodes(
  trigger: N8nNode,
  kind: 'chat' | 'webhook',
  newId: (wanted: string) => string,
  last: readonly Items[],
): WorkflowNode[] {
  const id = newId('answer');
  const items = `const items = [${last.map(({ list }) => `...${list}`).join(', ')}];`;
  if (kind === 'chat') {
    const texts = 'item.output ?? item.text ?? item.message?.content ?? item.response?.text';
    return [
      {
        id,
        displayName: 'Answer',
        code: {
          source: withShim(
            `${items}\nconst item = items.at(-1) ?? {};\nconst answer = ${texts};\nreturn typeof answer === 'string' ? answer : JSON.stringify(answer ?? item);`,
          ),
        },
      },
    ];
  }
  const returns = textOf(trigger.parameters['responseData'], 'firstEntryJson');
  const property = textOf(memberOf(trigger.parameters, 'options.responsePropertyName'));
  const first = property === '' ? 'items[0] ?? {}' : `(items[0] ?? {})[${JSON.stringify(property)}] ?? null`;
  const data = returns === 'allEntries' ? 'items' : returns === 'noData' ? '""' : first;
  return [
    { id, displayName: 'Answer', code: { source: withShim(`${items}\nreturn ${data};`) } },
    { id: newId('reply'), displayName: 'Respond', response: { body: `{{ $('${id}').data_content }}` } },
  ];
}
