/** The categories of templates: what their nodes work with. Pure. */
import type { WorkflowNode, WorkflowSpec } from '../../api/workflow.ts';

export const CATEGORIES = [
  'AI agents',
  'Email',
  'Chat and bots',
  'Sheets and files',
  'Webhooks and APIs',
  'Schedules',
] as const;
export type Category = (typeof CATEGORIES)[number];

const OF_SKILLS: Readonly<Record<string, Category>> = {
  send_email: 'Email',
  reply_email: 'Email',
  send_message: 'Chat and bots',
  read_rows: 'Sheets and files',
  append_row: 'Sheets and files',
  update_row: 'Sheets and files',
  download_file: 'Sheets and files',
  upload_file: 'Sheets and files',
  http_request: 'Webhooks and APIs',
};

/** The categories of a template, in the order in which they are shown. */
export function categoriesOf({ nodes }: Pick<WorkflowSpec, 'nodes'>): Category[] {
  const own = new Set(nodes.flatMap(categoriesOfNode));
  return CATEGORIES.filter((category) => own.has(category));
}

function categoriesOfNode(node: WorkflowNode): Category[] {
  const skills = [node.skill?.name, ...(node.agent?.tools ?? []).map(({ skill }) => skill)];
  const ofSkills = skills.flatMap((name) =>
    name !== undefined && Object.hasOwn(OF_SKILLS, name) ? (OF_SKILLS[name] ?? []) : [],
  );
  return [...ofSkills, ...categoriesOfKind(node)];
}

function categoriesOfKind(node: WorkflowNode): Category[] {
  if (node.agent) return ['AI agents'];
  if (node.mail) return ['Email'];
  if (node.bot ?? node.chat) return ['Chat and bots'];
  if (node.spreadsheet ?? node.fileStorage) return ['Sheets and files'];
  if (node.webhook ?? node.response ?? node.wait?.callback) return ['Webhooks and APIs'];
  return node.schedule ? ['Schedules'] : [];
}
