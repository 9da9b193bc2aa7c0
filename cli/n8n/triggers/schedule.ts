/** Schedule, Cron and Interval. */
import { rulesOf } from './cron.ts';
import { textOf } from '../model/json.ts';
import { type N8nWorkflow, shortType } from '../model/n8n.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { draftOf } from './event.ts';

const PARTS =
  /json\b[^{}]{0,4}(?:Hour|Minute|Second|Year|Month|Timezone|Day of|Readable)|scheduleTrigger"\)[^{}]*(?:Hour|Day of)/;

/** Whether a node reads more of the item than its time. */
const readsParts = ({ nodes }: N8nWorkflow): boolean =>
  nodes.some(({ parameters }) => PARTS.test(JSON.stringify(parameters)));

export function convertSchedule(context: NodeContext): Draft {
  const { node, parameters, workflow, id } = context;
  const [first = { cron: '0 0 * * *', notes: [] }, ...others] = rulesOf(shortType(node.type), parameters);
  for (const note of first.notes) context.note('review', note);
  if (others.length > 0)
    context.note(
      'review',
      `it has more times: ${others.map(({ cron }) => cron).join('; ')}. Create a workflow for each`,
    );
  const zone = textOf(workflow.settings['timezone']);
  const isZone = /^[A-Za-z_]+(?:\/[A-Za-z_+-]+)*$/.test(zone) && zone !== 'DEFAULT';
  return draftOf(context, {
    trigger: { schedule: { cron: first.cron, ...(isZone && { timeZone: zone }) } },
    list: readsParts(workflow)
      ? `[scheduleItem(nodes.${id}.text_content)]`
      : `[{ timestamp: nodes.${id}.text_content }]`,
    fields: [[['timestamp'], '.text_content']],
  });
}
