/** The copy of a workflow that the editor shows. Pure. */
import { copiedSpec } from '../../workflows/manifest.ts';
import type { NewWorkflow } from '../../workflows/create.ts';
import { canvasAnnotations } from './annotation.ts';
import type { Draft } from './model.ts';

/** In characters, as the schema of workflows says. */
const LONGEST_TITLE = 256;

/** The inactive copy of the draft of `original`, with its positions and notes. */
export function copyOf(draft: Draft, { name, original }: { name: string; original: string }): NewWorkflow {
  const title = `${draft.spec.displayName ?? original} (copy)`.slice(0, LONGEST_TITLE);
  return { name, marks: { annotations: canvasAnnotations(draft) }, spec: copiedSpec(draft.spec, title) };
}
