/** Why the operator refused a test run: the problems of its spec, each with its place. */
import { problemsInRefusal } from '../../../api/refusedDraft.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { EDGE_PLACE, NODE_PLACE, withoutPlace } from '../../forms/place.ts';
import { ApiFailure } from '../../http/failure.ts';
import { conditionText, ownProblemText } from '../../workflows/conditionText.ts';
import { operatorWords } from '../../workflows/operatorWords.ts';
import type { LiveProblem } from '../dialogs/liveProblems.ts';
import { edgePlace } from '../dialogs/placeText.ts';
import { edgeId, edgesOf } from '../model/graph.ts';
import { sentencesOf } from '../model/problems.ts';

type Refusal = { title: string; reason: string; message: string };

export class RunRefused extends ApiFailure {
  readonly problems: readonly LiveProblem[];
  /** How many problems the operator did not list. */
  readonly more: number;

  constructor({ title, reason, message }: Refusal, problems: readonly LiveProblem[], more: number) {
    super({ status: -1, title, reason, detail: message });
    this.name = 'RunRefused';
    this.problems = problems;
    this.more = more;
  }
}

/** The refusal, with its problems where the message names their places. */
export function runRefused(refusal: Refusal, spec: WorkflowSpec): ApiFailure {
  const { problems: text, more } = problemsInRefusal(refusal.message) ?? {
    problems: refusal.message,
    more: 0,
  };
  const problems = sentencesOf(text).map((sentence) => problemIn(sentence, spec));
  if (problems.some(({ place }) => place !== '')) return new RunRefused(refusal, problems, more);
  const { title, reason, message } = refusal;
  return new ApiFailure({ status: -1, title, reason, detail: conditionText(message, spec.nodes) });
}

function problemIn(sentence: string, spec: WorkflowSpec): LiveProblem {
  const id = NODE_PLACE.exec(sentence)?.[1] ?? '';
  if (spec.nodes.some((node) => node.id === id)) return { place: id, message: ownProblemText(id, sentence) };
  const [, from = '', to = ''] = EDGE_PLACE.exec(sentence) ?? [];
  const edge = edgesOf(spec).find((other) => other.from === from && other.to === to);
  if (edge === undefined) return { place: '', message: conditionText(sentence, spec.nodes) };
  return { place: edgePlace(edgeId(edge)), message: withoutPlace(operatorWords(sentence)) };
}
