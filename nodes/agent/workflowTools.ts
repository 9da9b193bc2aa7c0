/**
 * Tools that run a workflow: what the model is told of it, and how its calls become the input of child runs.
 */
import * as z from 'zod';
// Through `z` it would bring the messages of all languages into a bundle.
import { toDotPath } from 'zod/v4/core';
import { rounded } from '../../api/exact/exactNumber.ts';
import { isRecord } from '../../api/record.ts';
import { nameOfTool, type AgentTool } from '../../api/step.ts';
import type { ModelTool } from '../contract/model.ts';
import type { CalleeInfo, Effect, StepResult } from '../contract/node.ts';
import { propertiesOf, restricted } from './toolSchema.ts';

/**
 * `effect`: a repeated call finds the same child run. `schema`: that of the whole input; left out, the
 * workflow declares none, and the model gives one free-form object.
 */
export type WorkflowTool = ModelTool & {
  workflow: string;
  effect: Effect;
  schema?: z.ZodType;
  /** Of a test run: takes the place of the child run. */
  mock?: () => Promise<StepResult>;
};

/** The one parameter of a tool whose workflow declares no schema. */
const FREE_FORM = 'input';
const FREE_FORM_SCHEMA = {
  properties: {
    [FREE_FORM]: { type: 'object', description: 'The input of the workflow: a JSON object.' },
  },
  required: [FREE_FORM],
};

/** The tool that runs a workflow. `callee`: undefined if there is no such workflow now. */
export function workflowTool(
  { name, description, parameters = {}, parameterDescriptions = {} }: AgentTool,
  workflow: string,
  callee: CalleeInfo = {},
): WorkflowTool {
  const { inputSchema } = callee;
  const shown = inputSchema ?? FREE_FORM_SCHEMA;
  return {
    name: nameOfTool({ name, workflow }),
    description: description ?? callee.description ?? `Runs the workflow ${workflow}.`,
    inputSchema: restricted(
      shown,
      (each) => !inputSchema || !Object.hasOwn(parameters, each),
      parameterDescriptions,
    ),
    workflow,
    effect: 'AtLeastOnce',
    ...(inputSchema && { schema: z.fromJSONSchema(inputSchema) }),
  };
}

/** The input of a child run, or why the model must correct its call. `fixed`: evaluated fixed parameters. */
export function inputOf(
  { name, schema, inputSchema }: WorkflowTool,
  fixed: Readonly<Record<string, unknown>>,
  given: Record<string, unknown>,
): { parameters: Record<string, unknown> } | { problem: string } {
  const offered = Object.keys(propertiesOf(inputSchema));
  const unknown = Object.keys(given).filter((each) => !offered.includes(each));
  if (unknown.length > 0) {
    const there = offered.join(', ') || 'none';
    return { problem: `${name} has no parameter ${unknown.join(', ')}; its parameters are: ${there}` };
  }
  if (!schema) {
    const free = given[FREE_FORM];
    return isRecord(free)
      ? { parameters: { ...free, ...fixed } }
      : { problem: `${FREE_FORM}: must be a JSON object` };
  }
  const parameters = { ...given, ...fixed };
  const fit = schema.safeParse(rounded(parameters));
  if (fit.success) return { parameters };
  const [issue] = fit.error.issues;
  const place = issue ? toDotPath(issue.path) : '';
  return { problem: `${place || 'parameters'}: ${issue?.message}` };
}

/** What is wrong with the schema of a trigger, for the check of a workflow before it runs. */
export function inputSchemaProblem(schema: Readonly<Record<string, unknown>>): string | undefined {
  if (schema['type'] !== 'object' || !isRecord(schema['properties']))
    return 'inputSchema must be the JSON Schema of an object: set type: object and properties';
  try {
    z.fromJSONSchema(schema);
    return undefined;
  } catch (error) {
    return `inputSchema cannot be used: ${error instanceof Error ? error.message : 'it is not a JSON Schema'}`;
  }
}
