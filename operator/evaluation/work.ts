/** The work of Evaluations whose cost authors control: they write cases, patterns and schemas. Pure. */
import type { WorkflowRun } from '../../api/kinds.ts';
import type { Revision } from '../../api/revision.ts';
import { casesProblem, readCases, type EvaluationCase, type ReadCases } from './cases.ts';
import { judge, type Verdict } from './expectations.ts';

/** A case, as far as a verdict needs it. */
export type Expected = Pick<EvaluationCase, 'phase' | 'expect'>;

/** One piece of work: what to do, and with what. */
export type Work =
  | { kind: 'read'; text: string }
  | { kind: 'check'; cases: readonly EvaluationCase[]; workflow: string; revision: Revision }
  | { kind: 'judge'; given: Expected; run: WorkflowRun };

/** What the work gives. */
export type Done = ReadCases | Verdict | string | undefined;

export function perform(work: Work): Done {
  switch (work.kind) {
    case 'read':
      return readCases(work.text);
    case 'check':
      return casesProblem(work.cases, work.workflow, work.revision);
    case 'judge':
      return judge(work.given, work.run);
  }
}
