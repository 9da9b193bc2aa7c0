/** Wait. */
import { planValues } from '../steps/call.ts';
import { numberOf, textOf } from '../model/json.ts';
import type { Draft, Items } from '../steps/items.ts';
import { joinInputs, type NodeContext } from '../steps/context.ts';
import { valueOf } from '../expressions/value.ts';

/** A wait for a duration, until a time, or for a callback. */
export function convertWait(context: NodeContext): Draft {
  const { id, input, parameters } = context;
  const resume = textOf(parameters['resume'], 'timeInterval');
  const output: Items = { ...joinInputs(input.sources), node: id, list: input.list };
  delete output.when;
  const draftOf = (wait: object): Draft => ({
    nodes: [{ id, wait }],
    edges: [],
    entry: id,
    outputs: [output],
  });
  if (resume === 'webhook' || resume === 'form') {
    context.note(
      'review',
      `a POST request with a JSON body to {{ $url('${id}') }} continues the run; in n8n it is $execution.resumeUrl`,
    );
    const list = `[{ headers: {}, params: {}, query: {}, body: nodes.${id}?.data_content ?? {} }]`;
    return { ...draftOf({ callback: {} }), outputs: [{ node: id, list, lineage: '' }] };
  }
  if (resume === 'specificTime') {
    const plan = planValues({ ...context, node: { ...context.node, executeOnce: true } }, id, {
      until: valueOf(parameters['dateTime'] ?? ''),
    });
    return {
      ...draftOf({ until: plan.values['until'] || '1970-01-01T00:00:00Z' }),
      nodes: [
        ...plan.before,
        { id, wait: { until: String(plan.values['until']) || '1970-01-01T00:00:00Z' } },
      ],
      edges: plan.edges,
      entry: plan.entry,
    };
  }
  return draftOf(timeOf(context));
}

const UNIT_MS: Record<string, number> = { seconds: 1e3, minutes: 6e4, hours: 36e5, days: 864e5 };

const LONGEST_MS = 90 * 864e5;

function timeOf(context: NodeContext): object {
  const { parameters } = context;
  const amount = numberOf(parameters['amount'] ?? (context.node.version < 1.1 ? 1 : 5));
  const unit = UNIT_MS[textOf(parameters['unit'], context.node.version < 1.1 ? 'hours' : 'seconds')] ?? 1000;
  if (amount === undefined) {
    context.note(
      'review',
      'its duration is an expression, which a wait cannot have: it is 5 seconds. Set the duration',
    );
    return { duration: '5s' };
  }
  const ms = Math.min(Math.max(Math.round(amount * unit), 0), LONGEST_MS);
  return { duration: ms % 60_000 === 0 ? `${ms / 60_000}m` : ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms` };
}
