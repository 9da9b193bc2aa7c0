/** The problems that the editor shows: those of the draft, and those of the published version that remain. */
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import type { WorkflowObject } from '../../kube/resources.ts';
import { isNothing } from '../../forms/values.ts';
import { currentProblems, valueAt, withoutReported } from '../model/current.ts';
import { disabledIn } from '../model/disabling.ts';
import type { Draft } from '../model/model.ts';
import { missingCredentials } from '../model/missingCredentials.ts';
import { currentTexts } from '../model/unapplied.ts';
import type { EditorState } from './store.ts';
import { NO_PROBLEMS, problemsOf, savedProblems, type Found, type Problems } from '../model/problems.ts';

export type FoundProblems = {
  /** Problems that the dry run of the API server found. */
  found: readonly Found[];
  /** The spec that `found` is about. */
  foundIn: WorkflowSpec | undefined;
  /** References that cannot be resolved, and what is missing. */
  references: readonly Found[];
  /** The spec that `references` is about. */
  referencesIn: WorkflowSpec | undefined;
  /** The names of all credentials of the project; undefined: they are not known. */
  credentials: ReadonlySet<string> | undefined;
};

type Shown = FoundProblems & Pick<EditorState, 'panel' | 'unapplied'>;

type Known = { inputs: readonly unknown[]; shown: readonly Found[]; problems: Problems };
let known: Known | undefined;

/**
 * All problems that still apply to the draft. A node that was just added may be incomplete until its panel is
 * left. Returns the same object while the problems are the same, so that nodes are not redrawn.
 */
export function shownProblems(
  { found, foundIn, references, referencesIn, credentials, panel, unapplied }: Shown,
  workflow: WorkflowObject,
  draft: Draft,
): Problems {
  const fresh = panel !== undefined && 'isNew' in panel ? panel.node : undefined;
  const { spec } = draft;
  const inputs = [found, foundIn, references, referencesIn, credentials, fresh, unapplied, workflow, spec];
  if (known !== undefined && inputs.every((input, index) => input === known?.inputs[index]))
    return known.problems;
  // Shown of a new node, too, even if the field has no value yet: a run would leave out what was typed.
  const ofTexts = currentTexts(unapplied, spec).map((text) => text.found);
  const ofDraft = [...ofTexts, ...currentProblems(found, foundIn ?? spec, spec)];
  const reported = [...ofDraft, ...publishedProblems(workflow, spec)];
  const all = [
    ...reported,
    ...withoutReported(currentProblems(references, referencesIn ?? spec, spec), reported),
    // The operator may report the same of the published version. Of equal problems the last one is shown.
    ...(credentials === undefined ? [] : withoutReported(missingCredentials(spec, credentials), ofDraft)),
  ];
  const added = spec.nodes.find(({ id }) => id === fresh);
  const shown =
    added === undefined
      ? all
      : all.filter((each) => ofTexts.some((text) => text === each) || !isAboutMissing(added, each));
  const isSame = known?.shown.length === shown.length && shown.every((each, at) => each === known?.shown[at]);
  const problems = isSame && known ? known.problems : shown.length === 0 ? NO_PROBLEMS : problemsOf(shown);
  known = { inputs, shown, problems };
  return problems;
}

/** Whether the problem says that the node lacks a value. The API server reports empty values, too. */
function isAboutMissing(node: WorkflowNode, { place, problem: { source, field } }: Found): boolean {
  if (place === undefined || !('node' in place) || place.node !== node.id) return false;
  if (source === 'incomplete') return true;
  return source === 'draft' && field !== '' && isNothing(valueAt(node, field));
}

/** Those of the published version that publishing the draft would not end. Disabled nodes need nothing. */
function publishedProblems(workflow: WorkflowObject, spec: WorkflowSpec): readonly Found[] {
  const found = currentProblems(problemsOfSaved(workflow), workflow.spec, spec);
  const disabled = disabledIn(spec);
  if (disabled.size === 0) return found;
  return found.filter(({ place }) => place === undefined || !('node' in place) || !disabled.has(place.node));
}

let ofSaved: { workflow: WorkflowObject; found: Found[] } | undefined;

function problemsOfSaved(workflow: WorkflowObject): Found[] {
  if (ofSaved?.workflow !== workflow) ofSaved = { workflow, found: savedProblems(workflow) };
  return ofSaved.found;
}
