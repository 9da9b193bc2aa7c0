/** The copy of a workflow that the editor shows. Pure. */
import { copiedSpec } from '../../workflows/manifest.ts';
import type { NewWorkflow } from '../../workflows/create.ts';
import { canvasAnnotations } from './annotation.ts';
import type { Draft } from './model.ts';

/** The inactive copy of the draft, with its positions and notes. */
export function copyOf(draft: Draft, { name, title }: { name: string; title: string }): NewWorkflow {
  return { name, marks: { annotations: canvasAnnotations(draft) }, spec: copiedSpec(draft.spec, title) };
}
