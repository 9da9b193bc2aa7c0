/** What kinds of nodes do, where the description of the schema speaks of manifests. Pure. */
import type { NodeKind } from '../../api/workflow.ts';
import type { Schemas } from './schemas.ts';

const HELP: Partial<Record<NodeKind, string>> = {
  manual:
    'Starts a run when somebody or a program asks for it: in the console, over HTTP, or from another workflow.',
  schedule: 'Starts a run at fixed times, such as each hour, or at 9 on weekdays.',
  chat: 'Starts a run for each message that somebody writes on the chat page or sends over HTTP.',
  agent: 'Asks a language model, which may call tools: skills and workflows.',
  group:
    'The nodes in the frame run together: once, for each item of a list, or again until a condition holds. If one of them fails, the group fails.',
  wait: 'Waits for a duration, until a time, or until a URL is called (callback). The time does not count toward the timeout of the run.',
  workflow: 'Runs another workflow of the project, and continues with its output.',
};

/** The help of a kind in forms and in the gallery. */
export function kindHelp(
  kind: NodeKind,
  { triggers, steps }: Pick<Schemas, 'triggers' | 'steps'>,
): string | undefined {
  return HELP[kind] ?? (triggers[kind] ?? steps[kind])?.description;
}
