/** Asks a model for a draft or a condition, and checks the answer as the editor checks drafts. */
import { schemas } from 'windlass:schemas';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { failureFrom } from '../../http/failure.ts';
import { patchObject } from '../../kube/objects.ts';
import { mergePatch } from '../../kube/patch.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import { liveProblems } from '../dialogs/liveProblems.ts';
import { missingCredentials } from '../model/missingCredentials.ts';
import { draftProblems, problemsOf, type Found } from '../model/problems.ts';
import { filledFields } from '../panel/nodeFields.ts';
import { askModel, type BuildModel } from './askModel.ts';
import { workflowPrompt, type BuildInput } from './buildPrompt.ts';
import { conditionPrompt, readCondition, type ConditionInput } from './conditionPrompt.ts';
import { readProposal } from './readProposal.ts';
import { askUntilValid, type Checked } from './repairLoop.ts';
import { schemaProblems } from './schemaProblems.ts';
import { withTestDataOf } from './sentDraft.ts';

export type Proposal = {
  spec: WorkflowSpec;
  /** What is wrong with it, after all repairs. */
  problems: string[];
};

type Asked = {
  model: BuildModel;
  input: BuildInput;
  /** What is published, for the dry run; undefined: the user may not publish. */
  saved: WorkflowSpec | undefined;
  signal: AbortSignal;
  /** Says what is done now. */
  onStep: (step: string) => void;
};

/** Changes nothing. Throws an ApiFailure if there is no answer, or none that is a workflow. */
export async function propose(asked: Asked): Promise<Proposal> {
  const { model, input, signal, onStep } = asked;
  const { value, problems } = await askUntilValid({
    prompt: workflowPrompt(input, schemas),
    ask: (prompt) => askModel(model, prompt, signal),
    check: (answer) => checkProposal(answer, asked),
    onStep,
  });
  return { spec: value, problems };
}

async function checkProposal(answer: string, asked: Asked): Promise<Checked<WorkflowSpec>> {
  const { input, saved } = asked;
  const read = readProposal(answer, input.spec);
  if ('refusal' in read) return { value: undefined, problems: [read.refusal] };
  const spec = withTestDataOf(input.spec, read.spec);
  const { unknown, wrong } = schemaProblems(spec, schemas);
  if (wrong.length > 0) return { value: undefined, problems: wrong };
  const reported = saved === undefined ? [] : await dryRun(spec, saved, asked);
  const missing = missingCredentials(spec, new Set(input.credentials.map(({ name }) => name)));
  const problems = [
    ...unknown.map((path) => `${path} is not a field of a workflow.`),
    ...liveProblems(spec, filledFields, problemsOf([...reported, ...missing])).map(({ place, message }) =>
      place === '' ? message : `${place}: ${message}`,
    ),
  ];
  return { value: spec, problems };
}

/** What the API server says of the spec, without storing it. */
async function dryRun(
  spec: WorkflowSpec,
  saved: WorkflowSpec,
  { model: { namespace, workflow }, signal }: Asked,
): Promise<Found[]> {
  try {
    const patch = { spec: mergePatch(saved, spec) };
    // Unknown fields are listed already, and would hide whatever else is wrong.
    const options = { dryRun: true, ignoresUnknownFields: true, signal };
    await patchObject(WORKFLOWS, { namespace, name: workflow }, patch, options);
    return [];
  } catch (error) {
    const { status, causes, detail } = failureFrom(error);
    if (signal.aborted || ![400, 403, 422].includes(status)) throw error;
    return draftProblems(causes.length > 0 ? causes : [{ field: '', message: detail }], spec);
  }
}

type AskedCondition = {
  model: BuildModel;
  input: ConditionInput;
  /** Why the condition cannot be used; undefined if it can. */
  problemOf: (when: string) => string | undefined;
  signal: AbortSignal;
  onStep: (step: string) => void;
};

/** A condition in CEL that compiles. Throws an ApiFailure if there is none. */
export async function proposeCondition({
  model,
  input,
  problemOf,
  signal,
  onStep,
}: AskedCondition): Promise<string> {
  const { value } = await askUntilValid({
    prompt: conditionPrompt(input),
    ask: (prompt) => askModel(model, prompt, signal),
    check: (answer) => {
      const read = readCondition(answer);
      const problem = 'refusal' in read ? read.refusal : problemOf(read.when);
      const value = 'when' in read && problem === undefined ? read.when : undefined;
      return Promise.resolve({ value, problems: problem === undefined ? [] : [problem] });
    },
    onStep,
  });
  return value;
}
