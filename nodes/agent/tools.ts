/**
 * The tools of an agent: which parameters of a skill the model sees, and how its calls become parameters.
 * Guarantees that the model sets neither fixed parameters nor, without the author's pattern, a parameter that
 * says where data goes.
 */
import * as z from 'zod';
import { ExpressionError } from '../../api/expression/errors.ts';
import { JSON_LIMITS, parseJson } from '../../api/json.ts';
import { isRecord } from '../../api/record.ts';
import { StepError } from '../../api/reasons.ts';
import type { AgentTool } from '../../api/step.ts';
import type { ModelTool, ModelToolCall } from '../contract/model.ts';
import { matches } from './patterns.ts';
import { restricted } from './toolSchema.ts';
import type { Effect, StepContext } from '../contract/node.ts';
import type { Skill } from '../contract/skill.ts';
import { inputOf, type WorkflowTool } from './workflowTools.ts';

export type SkillTool = ModelTool & {
  skill: Skill;
  credential: string | undefined;
  effect: Effect;
  /** The parameters that the model may set. */
  open: ReadonlySet<string>;
  modelMaySet: Readonly<Record<string, string>>;
  /** What is wrong with evaluated parameters. */
  problemOf: (parameters: unknown) => string | undefined;
};

export type Tool = SkillTool | WorkflowTool;

/** The tools of an agent, and the evaluated fixed parameters of each. */
export type AgentTools = {
  tools: readonly Tool[];
  fixed: readonly Readonly<Record<string, unknown>>[];
};

/** Bytes of the arguments of one call. */
const ARGUMENTS_LIMIT_BYTES = 32 * 1024;

/** The parameters that the model may set. */
export function openParameters(
  { parameters = {}, modelMaySet = {} }: AgentTool,
  { parameters: schema, rules = {} }: Skill,
): Set<string> {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  return new Set(
    names.filter((name) => {
      if (Object.hasOwn(parameters, name) || rules[name]?.isHiddenFromModels) return false;
      return !rules[name]?.isDestination || Object.hasOwn(modelMaySet, name);
    }),
  );
}

/** The JSON Schemas of all parameters: an agent is started again after each wait for a child run. */
const wholeSchemas = new WeakMap<z.ZodType, Record<string, unknown>>();

function wholeSchemaOf(parameters: z.ZodType): Record<string, unknown> {
  const known = wholeSchemas.get(parameters);
  if (known) return known;
  const schema = z.toJSONSchema(parameters, { io: 'input', unrepresentable: 'any' });
  wholeSchemas.set(parameters, schema);
  return schema;
}

/** The JSON Schema of the parameters that the model may set. `descriptions`: those of the author, by name. */
export function schemaOf(
  { parameters }: Skill,
  open: ReadonlySet<string>,
  descriptions: Readonly<Record<string, string>> = {},
): Record<string, unknown> {
  return restricted(wholeSchemaOf(parameters), (name) => open.has(name), descriptions);
}

/** The parameters of a call, or why the model must correct it. `fixed`: the evaluated fixed parameters. */
export function parametersOf(
  tool: Tool,
  fixed: Readonly<Record<string, unknown>>,
  call: ModelToolCall,
): { parameters: Record<string, unknown> } | { problem: string } {
  const given = readArguments(call);
  if (typeof given === 'string') return { problem: given };
  if ('workflow' in tool) return inputOf(tool, fixed, given);
  const unknown = Object.keys(given).filter((name) => !tool.open.has(name));
  if (unknown.length > 0) {
    const offered = [...tool.open].join(', ') || 'none';
    return { problem: `${tool.name} has no parameter ${unknown.join(', ')}; its parameters are: ${offered}` };
  }
  try {
    const written = { ...fixed, ...given };
    const composed = Object.entries(given).map(([name, value]) => [
      name,
      compose(tool, name, value, written),
    ]);
    const parameters = { ...fixed, ...(Object.fromEntries(composed) as Record<string, unknown>) };
    const problem = tool.problemOf(parameters);
    return problem === undefined ? { parameters } : { problem };
  } catch (error) {
    if (!(error instanceof StepError || error instanceof ExpressionError)) throw error;
    return { problem: error.message };
  }
}

/** Read as strictly as when they are sent back to the model: what a tool gets is what the model sees. */
function readArguments({ arguments: text }: ModelToolCall): Record<string, unknown> | string {
  if (Buffer.byteLength(text) > ARGUMENTS_LIMIT_BYTES)
    return `the arguments have more than ${ARGUMENTS_LIMIT_BYTES / 1024} KiB: send less`;
  const parsed = parseJson(text);
  if (parsed.ok) return isRecord(parsed.value) ? parsed.value : 'the arguments are not a JSON object';
  if (parsed.code === 'bad-json') return 'the arguments are not valid JSON';
  if (parsed.code === 'too-deep')
    return `the arguments are nested more than ${JSON_LIMITS.maxDepth} levels deep`;
  return `the arguments are refused: ${parsed.message}`;
}

/** A value of the model is data, as that of a reference. */
function compose(
  { skill: { rules = {} }, modelMaySet }: SkillTool,
  name: string,
  value: unknown,
  written: Record<string, unknown>,
): unknown {
  const rule = rules[name];
  if (!rule) return value;
  const pattern = modelMaySet[name];
  if (rule.isDestination && (pattern === undefined || !matches(value, pattern)))
    throw new StepError('InvalidParameters', `${name}: must match ${pattern}, which the workflow allows`);
  try {
    return rule.compose({ kind: 'reference', reference: `the value`, value }, written);
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    throw new StepError(error.reason, `${name}: ${error.message}`, { cause: error });
  }
}

/**
 * Where a request of the tool may be redirected: within the origin of the URL that the author wrote, or to
 * what the author's pattern of URLs admits. A server that redirects to any URL that it is sent would
 * otherwise lead the model out.
 */
export function redirectsOf({
  modelMaySet: { url: pattern },
}: Pick<SkillTool, 'modelMaySet'>): NonNullable<StepContext['mayRedirect']> {
  return (from, to) => (pattern === undefined ? from.origin === to.origin : matches(to.href, pattern));
}
