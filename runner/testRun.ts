/** What changes the steps of a test run: mocks, and another model for agents. Pure. */
import { withoutCallbackURLs } from '../api/callback.ts';
import type { Mock, ModelOverride } from '../api/mock.ts';
import type { RevisionStep } from '../api/revision.ts';
import type { StepResult } from '../nodes/contract/node.ts';
import { mockedResult, mockOfNode } from '../nodes/mocks.ts';
import type { StepFields } from '../nodes/step.ts';
import type { NodeState } from '../runs/types/node.ts';
import type { RunState } from '../runs/types/run.ts';

type Tested = Pick<RunState, 'testing' | 'parent' | 'workflow'>;

/** Bytes of the parameters that the record shows of a mocked node. */
const PARAMETERS_SHOWN_BYTES = 8 * 1024;

/**
 * The mocks of a node and its tools; undefined if all effects of the node are real, as in a run without
 * mocks. `real` for the node stands for what has no mock of its own, if the run executes that.
 */
export function mocksOf(run: Tested, node: string): readonly Mock[] | undefined {
  const { mocks, unmocked } = run.testing ?? {};
  if (!mocks) return undefined;
  const root = rootOf(run);
  const own = mocks.filter((mock) => mock.node === node && (mock.workflow ?? root) === run.workflow);
  if (unmocked !== 'Execute') return own;
  return own.some(({ tool }) => tool === undefined) ? own : [...own, { node, real: true }];
}

/** Mocks name workflows as the author of the test run sees them: left out, its own. */
function rootOf({ parent, workflow }: Tested): string {
  return parent?.path[0] ?? workflow;
}

/** The result of a node that is not executed as an attempt of a skill. @throws StepError that of the mock */
export function mockedNode(run: Tested, step: RevisionStep, fields: StepFields): StepResult | undefined {
  const mocks = mocksOf(run, step.id);
  return mocks && mockedResult(step, fields, mocks);
}

/**
 * What the record shows of a node whose result is a mock, without URLs of callbacks; undefined for any other
 * node.
 */
export function mockShown(
  mocks: readonly Mock[] | undefined,
  step: RevisionStep,
  fields: StepFields,
): NodeState['mocked'] {
  const own = mocks && mockOfNode(mocks);
  if (!own || own.real) return undefined;
  const parameters = step.kind === 'skill' ? fields['parameters'] : fields;
  const text = JSON.stringify(parameters) ?? '';
  return Buffer.byteLength(text) > PARAMETERS_SHOWN_BYTES
    ? {}
    : { parameters: withoutCallbackURLs(parameters) };
}

/** The step and its fields with the model of the test run, if it has one for this agent. */
export function withModel(
  run: Tested,
  step: RevisionStep,
  fields: StepFields,
): { step: RevisionStep; fields: StepFields } {
  const model = run.testing?.model;
  if (step.kind !== 'agent' || !model || !isFor(model, run, step.id)) return { step, fields };
  const { fallback: _fallback, ...agent } = step.agent;
  const credential = model.credential ?? agent.credential;
  const own = { ...agent, credential, model: model.model };
  return { step: { ...step, agent: own }, fields: { ...fields, model: model.model } };
}

function isFor({ node }: ModelOverride, run: Tested, id: string): boolean {
  return node === undefined || (node === id && rootOf(run) === run.workflow);
}
