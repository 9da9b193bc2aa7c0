/** Execute Workflow. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import { loopOf, outputsOf, planValues } from '../steps/call.ts';
import { computeList } from '../steps/compute.ts';
import { memberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import { optionsOf, type NodeContext } from '../steps/context.ts';
import { type Value, code, toJavaScript, valueOf } from '../expressions/value.ts';

export function convertExecute(context: NodeContext): Draft {
  const { id, parameters, node } = context;
  const raw = parameters['workflowId'];
  const cached = textOf(memberOf(node.parameters, 'workflowId.cachedResultName'));
  if (!['database', ''].includes(textOf(parameters['source']))) {
    context.note(
      'manual',
      'a sub-workflow inside of the parameters, of a file or a URL is not imported: import it as a file',
    );
    return computeList(context, "throw new Error('Not imported: Execute Workflow');");
  }
  const name = context.workflowName(textOf(raw).replace(/^=.*/s, ''), cached || textOf(raw) || node.name);
  const mapped = objectOf(memberOf(parameters, 'workflowInputs.value'));
  const isEach = textOf(parameters['mode'], 'once') === 'each' || context.input.single !== undefined;
  const item: Value = Object.keys(mapped).length > 0 ? valueOf(mapped) : valueOf('={{ $json }}');
  const waits = memberOf(parameters, 'options.waitForSubWorkflow') !== false;
  const input = isEach ? item : code(`{ items: $in.map(($json) => (${toJavaScript(item)})) }`);
  const plan = planValues(
    isEach ? context : { ...context, node: { ...node, executeOnce: true }, input: { ...context.input } },
    id,
    { input },
  );
  // All items are read, although the node is executed once.
  for (const before of plan.before)
    if (before.code && !isEach) before.code.source = before.code.source.replace('.slice(0, 1);', ';');
  const isLoop = plan.forEach !== undefined;
  const call: WorkflowNode = {
    id,
    workflow: { name, input: plan.values['input'] ?? {}, ...(!waits && { wait: false }) },
    ...loopOf(plan),
    ...optionsOf(context, isLoop),
  };
  const outputs = outputsOf(context, id, {
    isLoop,
    items: (r) => `(Array.isArray(${r}) ? ${r} : [${r} ?? {}])`,
  });
  return { nodes: [...plan.before, call], edges: plan.edges, entry: plan.entry, outputs };
}
