/** From a step of a revision to its execution: which fields may hold references, and who executes it. */
import { StepError } from '../api/reasons.ts';
import type { RevisionStep } from '../api/revision.ts';
import { executeAgent } from './agent/agent.ts';
import type { StepContext, StepResult } from './node.ts';
import { findSkill } from './register.ts';
import { executeResponse } from './response.ts';

/** The fields of a step in which references are replaced before it is executed. All others are taken as they are. */
export function templatesOf(step: RevisionStep): Record<string, unknown> {
  switch (step.kind) {
    case 'agent':
      return given({
        model: step.agent.model,
        systemPrompt: step.agent.systemPrompt,
        prompt: step.agent.prompt,
      });
    case 'skill':
      return { parameters: step.skill.parameters ?? {} };
    case 'response':
      return given({ headers: step.response.headers, body: step.response.body });
  }
}

function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The evaluated value of what `templatesOf` gave. */
export type StepFields = Record<string, unknown>;

/** Executes a step that has no effect: at once, and without a context. Throws a StepError. */
export function executePure(step: RevisionStep & { kind: 'response' }, fields: StepFields): StepResult {
  return executeResponse({ ...step.response, ...fields });
}

/** Executes one attempt of a step. Throws a StepError for whatever goes wrong. */
export async function executeStep(
  step: RevisionStep,
  fields: StepFields,
  context: StepContext,
): Promise<StepResult> {
  if (step.kind === 'response') return executePure(step, fields);
  if (step.kind === 'agent') {
    const model = modelName('model' in fields ? fields['model'] : step.agent.model);
    return executeAgent({ ...step.agent, prompt: '', ...fields, model }, context);
  }
  const skill = findSkill(step.skill.name);
  if (!skill) throw new StepError('InvalidParameters', `there is no skill named ${step.skill.name}`);
  if (skill.credentials.length > 0 && step.skill.credential === undefined) {
    throw new StepError('InvalidParameters', `the skill ${step.skill.name} needs a credential`);
  }
  return skill.execute(fields['parameters'], context, step.skill.credential ?? '');
}

/** A reference may have given anything. */
function modelName(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new StepError(
    'InvalidParameters',
    "model is no name: let its reference give the model's name as text",
  );
}
