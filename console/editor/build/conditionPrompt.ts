/** The request for a condition of a connection, and how its answer is read. Pure. */
import { isRecord } from '../../../api/record.ts';
import { DATA_RULE, type BuildInput, type BuildPrompt } from './buildPrompt.ts';
import { sentData, sentNodes } from './sentDraft.ts';

/** The longest condition that the API accepts. */
const LONGEST = 4_096;

export type ConditionInput = Pick<BuildInput, 'text' | 'spec' | 'outputs'> & {
  from: string;
  to: string;
  /** The nodes that the condition may name. */
  nodes: readonly string[];
};

const RULES = `You write one condition in CEL for a connection of a workflow. Answer with one JSON object and nothing else: {"when": "<CEL>"}.
The condition is a boolean expression. nodes.<id>.text_content is a string and nodes.<id>.data_content any JSON value, such as nodes.order.data_content.total > 100.0. JSON numbers are doubles: compare them with 100.0, not 100. Use has(…) for members that may be missing. Text needs double quotes inside the JSON string. run.localTime, run.test and vars.<name> exist too.
${DATA_RULE}`;

/** The request for the condition. */
export function conditionPrompt({ text, spec, outputs, from, to, nodes }: ConditionInput): BuildPrompt {
  const known = spec.nodes.filter(({ id }) => nodes.includes(id));
  return {
    instructions: RULES,
    request: [
      `The connection leads from ${from} to ${to}. The condition may name: ${nodes.join(', ')}.`,
      `These nodes are:\n${JSON.stringify(sentNodes(known))}`,
      ...sentData(known, outputs),
      `The condition in words:\n${text}`,
    ].join('\n\n'),
  };
}

/** The CEL of the answer, or why there is none. */
export function readCondition(answer: string): { when: string } | { refusal: string } {
  if (answer.length > 4 * LONGEST) return { refusal: 'The answer is too long for a condition.' };
  const [start, end] = [answer.indexOf('{'), answer.lastIndexOf('}')];
  const value = end > start && start !== -1 ? parsed(answer.slice(start, end + 1)) : undefined;
  const when = isRecord(value) ? value['when'] : undefined;
  if (typeof when !== 'string' || when.trim() === '')
    return { refusal: 'The answer contains no condition: {"when": "…"} is expected.' };
  return when.length > LONGEST
    ? { refusal: `The condition has ${when.length} characters; at most ${LONGEST} are possible.` }
    : { when: when.trim() };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
