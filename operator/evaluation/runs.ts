/** The runs of an Evaluation: their names and manifests, and its status as their verdicts make it. Pure. */
import { createHash } from 'node:crypto';
import { FAILURES_SHOWN, type EvaluationStatus, type EvaluationVariant } from '../../api/evaluation.ts';
import { API_VERSION, LABEL } from '../../api/group.ts';
import { EVALUATION, type Evaluation, type WorkflowRun } from '../../api/kinds.ts';
import { amountText } from '../../api/money.ts';
import type { TriggerKind } from '../../api/triggerKinds.ts';
import type { EvaluationCase } from './cases.ts';
import type { Verdict } from './expectations.ts';

/** The variants of an Evaluation with the revision that each executes. */
export type PinnedVariant = Pick<EvaluationVariant, 'name' | 'model'> & {
  revision: string;
  trigger: TriggerKind;
};

export type PlannedRun = { name: string; case: EvaluationCase; variant: PinnedVariant };

/** Characters of the name of the Evaluation in the names of its runs. */
const NAME_LENGTH = 40;

/**
 * All runs, in the order in which they are created: case by case, so that variants are compared under the
 * same conditions. The name of each follows from the uid of the Evaluation, so that none is created twice.
 */
export function plannedRuns(
  { metadata: { name, uid = '' }, spec: { repeat = 1 } }: Evaluation,
  cases: readonly EvaluationCase[],
  variants: readonly PinnedVariant[],
): PlannedRun[] {
  const hash = createHash('sha256').update(uid).digest('hex').slice(0, 10);
  const prefix = name.slice(0, NAME_LENGTH).replace(/[^a-z0-9]+$/, '');
  return cases
    .flatMap((each) => Array.from({ length: repeat }, () => each))
    .flatMap((each) => variants.map((variant) => ({ case: each, variant })))
    .map((run, index) => ({ ...run, name: `${prefix}-${hash}-${index}` }));
}

/** The object of a run. It is deleted with the Evaluation. */
export function manifestOf(
  { metadata: { name, namespace = '', uid = '' }, spec }: Evaluation,
  { name: run, case: { data, mocks }, variant: { revision, trigger, model } }: PlannedRun,
): Pick<WorkflowRun, 'metadata' | 'spec'> {
  return {
    metadata: {
      name: run,
      namespace,
      labels: { [LABEL.evaluation]: name },
      // Not the controller: a restore reads the workflow of a run from that.
      ownerReferences: [{ apiVersion: API_VERSION, kind: EVALUATION.kind, name, uid }],
    },
    spec: {
      workflow: spec.workflow,
      revision,
      test: true,
      ...(data !== undefined && { input: inputOf(data, trigger) }),
      mocks,
      ...(model && { model }),
    },
  };
}

/** The input of a case, whose data has the form of `testData` of the trigger. */
export function inputOf(data: unknown, trigger: TriggerKind): NonNullable<WorkflowRun['spec']['input']> {
  if (trigger === 'manual') return { text_content: '', data_content: data };
  const { text_content = '', data_content = {} } = (data ?? {}) as {
    text_content?: string;
    data_content?: unknown;
  };
  return { text_content, data_content };
}

/** Whether the run belongs to this Evaluation. */
export function isRunOf({ metadata }: Evaluation, run: WorkflowRun): boolean {
  return run.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) ?? false;
}

type Results = Required<
  Pick<EvaluationStatus, 'total' | 'passed' | 'failed' | 'variants' | 'failures' | 'result'>
>;

/** The results so far. `verdicts`: of the runs that were judged, by name. */
export function resultsOf(
  runs: readonly PlannedRun[],
  variants: readonly PinnedVariant[],
  verdicts: ReadonlyMap<string, Verdict>,
): Results {
  const all = variants.map((variant) => resultOfVariant(runs, variant, verdicts));
  const failures = runs.flatMap(({ name: run, case: { name }, variant }) =>
    (verdicts.get(run)?.findings ?? []).map((finding) => ({
      case: name,
      variant: variant.name,
      run,
      ...finding,
    })),
  );
  return {
    total: runs.length,
    passed: all.reduce((sum, { passed }) => sum + passed, 0),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
    result: all.map(textOf).join(' | '),
    variants: all,
    failures: failures.slice(0, FAILURES_SHOWN),
  };
}

type VariantResult = NonNullable<EvaluationStatus['variants']>[number];

function resultOfVariant(
  runs: readonly PlannedRun[],
  variant: PinnedVariant,
  verdicts: ReadonlyMap<string, Verdict>,
): VariantResult {
  const own = runs.filter((run) => run.variant === variant);
  const judged = own.map(({ name }) => verdicts.get(name)).filter((verdict) => verdict !== undefined);
  const passed = judged.filter(({ findings }) => findings.length === 0).length;
  const seconds = judged.reduce((sum, verdict) => sum + verdict.seconds, 0);
  return {
    name: variant.name,
    revision: variant.revision,
    passed,
    failed: judged.length - passed,
    total: own.length,
    passRate: judged.length === 0 ? 0 : Math.floor((100 * passed) / judged.length),
    tokens: judged.reduce((sum, verdict) => sum + verdict.tokens, 0),
    ...costOf(judged),
    seconds: judged.length === 0 ? 0 : Math.round((10 * seconds) / judged.length) / 10,
  };
}

/** The sum of the costs that are known. The installation has one currency. */
function costOf(verdicts: readonly Verdict[]): Pick<VariantResult, 'cost' | 'currency'> {
  const costs = verdicts.map(({ cost }) => cost).filter((cost) => cost !== undefined);
  const [first] = costs;
  if (!first) return {};
  return { cost: amountText(costs.reduce((sum, { nano }) => sum + nano, 0)), currency: first.currency };
}

function textOf({ name, passed, failed, passRate, tokens, cost, currency, seconds }: VariantResult): string {
  const money = cost === undefined ? '' : `, ${cost} ${currency}`;
  return `${name}: ${passed}/${passed + failed} (${passRate}%), ${tokens} tokens${money}, ${seconds}s`;
}
