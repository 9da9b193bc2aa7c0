/** The draft as a manifest without positions and notes, which only the canvas needs. */
import { manifestText } from '../workflows/documents.ts';
import { manifestOf } from '../workflows/manifest.ts';
import { otherAnnotations } from './model/annotation.ts';
import type { EditorState } from './store/store.ts';

export function yamlOf({ workflow, draft }: Pick<EditorState, 'workflow' | 'draft'>): string {
  const annotations = otherAnnotations(workflow.metadata.annotations);
  return manifestText(manifestOf({ metadata: { ...workflow.metadata, annotations }, spec: draft.spec }));
}
