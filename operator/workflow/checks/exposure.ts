/**
 * Agents that can be made to give away what they read: they read private data, see text of strangers, and
 * send where an event or the model says. Such a workflow is valid, and its condition `Valid` says so. Tools
 * that run workflows are not looked into. Pure.
 */
import { withoutDisabled } from '../../../api/disabled.ts';
import { nameOfTool, type AgentTool } from '../../../api/step.ts';
import { isTriggerKind, kindOf, type WorkflowSpec } from '../../../api/workflow.ts';
import { findSkill } from '../../../nodes/register.ts';

/** One sentence for each agent that does all three. The spec must be valid. */
export function exposureNotes(given: WorkflowSpec): string[] {
  const spec = withoutDisabled(given);
  return spec.nodes.flatMap(({ id, agent }) => {
    if (!agent) return [];
    const { tools = [] } = agent;
    const reads = namesOf(tools.filter(readsPrivately));
    const sees = [...strangersIn(spec), ...namesOf(tools.filter(readsOthers))];
    const sends = [...namesOf(tools.filter(sendsElsewhere)), ...openAnswer(spec)];
    if (reads.length === 0 || sees.length === 0 || sends.length === 0) return [];
    return [
      `node ${id}: a text of strangers can make the agent send private data elsewhere: it reads private data (${reads.join(', ')}), text of strangers (${sees.join(', ')}), and sends where an event or the model says (${sends.join(', ')}). Fix the destination, or read and send in two agents (docs/security/agents.md).`,
    ];
  });
}

const namesOf = (tools: readonly AgentTool[]): string[] => tools.map(nameOfTool);

/** With a credential the data is that of an account. */
function readsPrivately({ skill, credential }: AgentTool): boolean {
  return findSkill(skill)?.isSource === true && credential !== undefined;
}

function readsOthers({ skill, credential }: AgentTool): boolean {
  return findSkill(skill)?.isSource === true && credential === undefined;
}

/** Whether the destination follows from an event, or is one of many that the model may set. */
function sendsElsewhere({ skill, parameters = {}, modelMaySet = {} }: AgentTool): boolean {
  return Object.entries(findSkill(skill)?.rules ?? {}).some(([name, { isDestination }]) => {
    if (!isDestination || name === 'method') return false;
    const fixed = JSON.stringify(parameters[name] ?? '');
    // A pattern of URLs names a host.
    if (name === 'url') return /^"(?:https?:\/\/[^/?#]*)?\{\{[^}]*\$\(/.test(fixed);
    return fixed.includes('$(') || modelMaySet[name]?.includes('*') === true;
  });
}

/** The trigger, unless people of the project or a clock start the workflow. */
function strangersIn({ nodes }: WorkflowSpec): string[] {
  const triggers = nodes.filter((node) => isTriggerKind(kindOf(node)));
  return triggers.flatMap((node) => (node.manual || node.schedule ? [] : [`trigger ${node.id}`]));
}

/** The answers of a public chat go to anybody. */
function openAnswer({ nodes }: WorkflowSpec): string[] {
  const chat = nodes.find((node) => node.chat?.access === 'Public');
  return chat ? [`chat ${chat.id}`] : [];
}
