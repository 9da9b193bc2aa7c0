/** Executes steps of a revision: which fields may contain references, and which node executes it. */
import { compileInput, executeCode, type CodeInput } from './code/step.ts';
import { evaluate } from '../api/expression/evaluate.ts';
import type { Scope } from '../api/expression/scope.ts';
import { compileValue, type CompiledValue } from '../api/expression/template.ts';
import { StepError } from '../api/reasons.ts';
import type { RevisionStep } from '../api/revision.ts';
import type { AgentStep, AgentTool } from '../api/step.ts';
import { executeAgent } from './agent/agent.ts';
import type { StepContext, StepResult } from './contract/node.ts';
import { mockedResult, mockTools } from './mocks.ts';
import { findSkill, hasNoEffect, needsCredential } from './register.ts';
import { executeResponse } from './response.ts';
import { compileRules } from './skills/rules.ts';
import { set, setResult } from './skills/set.ts';
import { calleesOfTools, toolsOf } from './tools.ts';
import { compileValues, evaluateValues, type CompiledValues } from './skills/values.ts';

/**
 * The fields of a step in which references are replaced before it is executed. All others are taken as they
 * are.
 */
export function templatesOf(step: RevisionStep): Record<string, unknown> {
  switch (step.kind) {
    case 'agent':
      return given({
        model: step.agent.model,
        systemPrompt: step.agent.systemPrompt,
        prompt: step.agent.prompt,
        images: step.agent.images,
        tools: step.agent.tools && fixedParametersOf(step.agent.tools),
        memory: step.agent.memory && { key: step.agent.memory.key },
      });
    case 'skill':
      return step.skill.name === set.name ? {} : { parameters: step.skill.parameters ?? {} };
    case 'response':
      return given({ headers: step.response.headers, body: step.response.body });
    case 'wait':
      return given({ until: step.wait.until });
    case 'workflow':
      return { input: step.workflow.input ?? {} };
    case 'fail':
      return { message: step.fail.message };
    case 'group':
    case 'code':
      return {};
  }
}

/** The fixed parameters of tools, by the number of the tool. */
function fixedParametersOf(tools: readonly AgentTool[]): Record<string, unknown> {
  return Object.fromEntries(tools.map(({ parameters = {} }, index) => [`${index}`, parameters]));
}

function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/**
 * The values in CEL of a step that takes such; undefined for every other step.
 * @throws ExpressionError that begins with the place of the expression
 */
export function valuesOf(step: RevisionStep): CompiledValues | undefined {
  if (step.kind !== 'skill' || step.skill.name !== set.name) return undefined;
  return compileValues(step.skill.parameters?.['values'], { forEach: true });
}

type AgentTemplates = { tools?: Record<string, unknown>[]; memory?: { key: unknown } };

/** The fields of a step with everything in them evaluated. */
export type StepFields = Record<string, unknown>;

/**
 * Parses all that is to be evaluated in a step. What it returns gives the fields, and throws an
 * ExpressionError for what cannot be evaluated, or a StepError `InvalidParameters` for what the rules of a
 * skill refuse.
 * @throws ExpressionError
 */
export function compileFields(step: RevisionStep): (scope: Scope) => StepFields {
  if (step.kind === 'code') return compileInput(step.code);
  const values = valuesOf(step);
  if (values) return (scope) => ({ parameters: { values: evaluateValues(values, scope) } });
  const templates = compileValue(templatesOf(step));
  if (step.kind === 'agent' && step.agent.tools) return compileAgent(step.agent.tools, templates);
  if (step.kind !== 'skill') return (scope) => evaluate(templates, scope) as StepFields;
  const composed = compileRules(findSkill(step.skill.name)?.rules, step.skill.parameters ?? {});
  return (scope) => {
    // First, since it bounds the size of what the rules are given.
    const { parameters } = evaluate(templates, scope) as { parameters: Record<string, unknown> };
    return { parameters: { ...parameters, ...composed(scope) } };
  };
}

/** The fixed parameters of tools follow the rules of their skills, as those of a skill node. */
function compileAgent(tools: readonly AgentTool[], templates: CompiledValue): (scope: Scope) => StepFields {
  const composed = tools.map(({ skill, parameters = {} }) =>
    compileRules(findSkill(skill)?.rules, parameters),
  );
  return (scope) => {
    const fields = evaluate(templates, scope) as { tools: Record<string, Record<string, unknown>> };
    const fixed = composed.map((compose, index) => ({ ...fields.tools[`${index}`], ...compose(scope) }));
    return { ...fields, tools: fixed };
  };
}

/** Whether `executePure` executes the step. Other steps, among them code, take time. */
export function isImmediate(step: RevisionStep): boolean {
  return step.kind !== 'code' && hasNoEffect(step);
}

/** Executes a step at once and without a context. Throws a StepError. */
export function executePure(step: RevisionStep, fields: StepFields): StepResult {
  if (step.kind === 'response') return executeResponse({ ...step.response, ...fields });
  if (isImmediate(step)) return setResult((fields['parameters'] as { values: unknown }).values);
  throw new Error(`a step of kind ${step.kind} has an effect`);
}

/** Executes one attempt of a step. Throws a StepError for whatever goes wrong. */
export async function executeStep(
  step: RevisionStep,
  fields: StepFields,
  context: StepContext,
): Promise<StepResult> {
  const { mocks } = context;
  const mocked = mocks && mockedResult(step, fields, mocks);
  if (mocked) return mocked;
  if (step.kind === 'code') return executeCode(step.code, fields as CodeInput, context);
  if (step.kind === 'response' || step.kind === 'fail' || hasNoEffect(step)) return executePure(step, fields);
  if (step.kind === 'agent') return executeAgentStep(step.agent, fields, context);
  if (step.kind !== 'skill') throw new Error(`a step of kind ${step.kind} has no attempt`);
  const skill = findSkill(step.skill.name);
  if (!skill) throw new StepError('InvalidParameters', `there is no skill named ${step.skill.name}`);
  if (needsCredential(skill) && step.skill.credential === undefined) {
    throw new StepError('InvalidParameters', `the skill ${step.skill.name} needs a credential`);
  }
  return skill.execute(fields['parameters'], context, step.skill.credential);
}

async function executeAgentStep(
  { tools, ...agent }: AgentStep,
  fields: StepFields,
  context: StepContext,
): Promise<StepResult> {
  const model = modelName('model' in fields ? fields['model'] : agent.model);
  const { tools: fixed = [], memory: _memory, ...given } = fields as AgentTemplates;
  const callees = await calleesOfTools({ tools }, context.calls?.children);
  return executeAgent({ ...agent, ...given, model }, context, {
    tools: mockTools(toolsOf({ tools }, callees), context.mocks ?? []),
    fixed,
  });
}

/** A reference may have given anything. */
function modelName(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new StepError(
    'InvalidParameters',
    "model is no name: let its reference give the model's name as text",
  );
}
