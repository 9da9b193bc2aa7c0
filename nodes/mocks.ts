/**
 * Mocks of a test run: they take the place of what steps and tools would do outside. Pure. Guarantees that in
 * a run with mocks no skill contacts a provider unless an entry with `real: true` names it or its agent.
 */
import type { Mock, Testing } from '../api/mock.ts';
import { MOCK_LIMIT_BYTES, MOCKS_LIMIT_BYTES } from '../api/mockLimits.ts';
import { StepError } from '../api/reasons.ts';
import type { Revision, RevisionStep } from '../api/revision.ts';
import { nameOfTool } from '../api/step.ts';
import type { Tool } from './agent/tools.ts';
import type { Skill } from './contract/skill.ts';
import type { StepResult } from './contract/node.ts';
import { findSkill, hasNoEffect, parametersProblem } from './register.ts';
import { removeDuplicates } from './skills/removeDuplicates.ts';

/** Kinds of steps that a mock can stand for: the others are what a run ends with. */
const KINDS: readonly RevisionStep['kind'][] = ['agent', 'code', 'skill', 'wait', 'workflow'];

/** Whether the skill contacts a provider. What `remove_duplicates` remembers, a test run does not store. */
export function needsMock(skill: Skill | undefined): boolean {
  return skill !== undefined && skill.effect !== 'None' && skill.name !== removeDuplicates.name;
}

/**
 * The result of the step, if a mock stands for it. `mocks`: those of the node and its tools.
 * @throws StepError that of the mock; `NotMocked` if the step or one of its tools needs a mock and has none;
 * `InvalidParameters` if the real skill would refuse the parameters, too
 */
export function mockedResult(
  step: RevisionStep,
  fields: Record<string, unknown>,
  mocks: readonly Mock[],
): StepResult | undefined {
  const own = mockOfNode(mocks);
  if (own && !own.real) {
    // What `set` is given was evaluated, and has the form of its output.
    const skill = step.kind === 'skill' && !hasNoEffect(step) ? findSkill(step.skill.name) : undefined;
    const problem = skill && parametersProblem(skill, fields['parameters']);
    if (problem !== undefined) throw new StepError('InvalidParameters', problem);
    return resultOf(own);
  }
  if (step.kind === 'skill' && !own && needsMock(findSkill(step.skill.name)))
    throw notMocked(`${step.skill.name} of node ${step.id}`, `{node: ${step.id}, output: {…}}`);
  if (step.kind === 'agent' && !own?.real) requireMocksOfTools(step, mocks);
  return undefined;
}

/** The mock that stands for the node itself. */
export function mockOfNode(mocks: readonly Mock[]): Mock | undefined {
  return mocks.find(({ tool }) => tool === undefined);
}

/** Before the model is asked, so that nothing is sent. */
function requireMocksOfTools(
  { id, agent }: Extract<RevisionStep, { kind: 'agent' }>,
  mocks: readonly Mock[],
): void {
  // A child run has the mocks of its parent.
  for (const { skill, ...tool } of agent.tools ?? []) {
    const name = nameOfTool({ skill, ...tool });
    if (needsMock(findSkill(skill)) && !mocks.some((mock) => mock.tool === name))
      throw notMocked(`tool ${name} of node ${id}`, `{node: ${id}, tool: ${name}, output: {…}}`);
  }
}

function notMocked(what: string, entry: string): StepError {
  const message = `the test run has mocks, but none for ${what}, so nothing was sent: add ${entry} to mocks, or real: true instead of output`;
  return new StepError('NotMocked', message);
}

/** The result of the mock. @throws StepError that of the mock */
function resultOf({ output = {}, error }: Mock): StepResult {
  if (error) throw new StepError(error.reason, error.message || 'the mock fails it');
  const { text_content = '', data_content = null } = output;
  return { output: { text_content, data_content } };
}

/** The tools, of which those with a mock return its result. */
export function mockTools(tools: readonly Tool[], mocks: readonly Mock[]): Tool[] {
  return tools.map((tool) => {
    const found = mocks.find((each) => each.tool === tool.name);
    if (!found || found.real) return tool;
    // In a promise, as the error of a real skill.
    const execute = () => Promise.resolve().then(() => resultOf(found));
    return 'workflow' in tool ? { ...tool, mock: execute } : { ...tool, skill: { ...tool.skill, execute } };
  });
}

/** What is wrong with the mocks and the model of a test run of this workflow; undefined: nothing. */
export function testingProblem(
  { mocks = [], model }: Testing,
  workflow: string,
  revision: Revision,
): string | undefined {
  const largest = mocks.findIndex((mock) => bytesOf(mock) > MOCK_LIMIT_BYTES);
  if (largest !== -1)
    return `spec.mocks[${largest}] is larger than ${MOCK_LIMIT_BYTES / 1024} KiB: let the mock return less.`;
  if (bytesOf(mocks) > MOCKS_LIMIT_BYTES)
    return `spec.mocks is larger than ${MOCKS_LIMIT_BYTES / 1024} KiB: let mocks return less.`;
  const { steps } = revision;
  const agent = steps.find(({ id }) => id === model?.node);
  if (model?.node !== undefined && agent?.kind !== 'agent')
    return `spec.model.node: workflow ${workflow} has no agent ${model.node}: correct the ID, or leave node out.`;
  for (const [index, mock] of mocks.entries()) {
    // The other workflow may have another revision when its run starts.
    const problem = (mock.workflow ?? workflow) === workflow ? mockProblem(mock, steps) : undefined;
    if (problem !== undefined) return `spec.mocks[${index}]: ${problem}.`;
  }
  return undefined;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** A revision does not have the nodes in disabled groups. */
function noStep(node: string, steps: readonly RevisionStep[]): string {
  const hint = steps.some(({ disabled }) => disabled)
    ? '. If it is in a disabled group, it is not executed: remove the mock. Otherwise'
    : ':';
  return `the workflow has no step ${node}${hint} correct the ID, or name the workflow of a child run`;
}

function mockProblem({ node, tool, real }: Mock, steps: readonly RevisionStep[]): string | undefined {
  const step = steps.find(({ id }) => id === node);
  if (!step) return noStep(node, steps);
  // It is not executed, so that its mock has no effect. Its revision has no tools to compare with.
  if (step.disabled) return undefined;
  if (!KINDS.includes(step.kind))
    return `${node} is of kind ${step.kind}, which no mock can stand for: remove the mock`;
  if (tool === undefined)
    return step.kind === 'agent' && real
      ? `the model of ${node} is asked without real: true: remove the entry, or name a tool`
      : undefined;
  const names = step.kind === 'agent' ? (step.agent.tools ?? []).map(nameOfTool) : [];
  if (names.includes(tool)) return undefined;
  return `${node} has no tool ${tool}; its tools are: ${names.join(', ') || '(none)'}`;
}
