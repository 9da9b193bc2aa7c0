/** A value of an output that is dragged into a field of a form: its reference, and as plain text the whole expression. */
import type { DragEvent } from 'react';
import { expressionOf } from './outputTree.ts';

/** What fields of forms look for. */
const REFERENCE_TYPE = 'application/x-windlass-reference';

/** Puts the reference into what is dragged. */
export function dragReference(event: DragEvent, reference: string): void {
  event.stopPropagation();
  event.dataTransfer.setData(REFERENCE_TYPE, reference);
  event.dataTransfer.setData('text/plain', expressionOf(reference));
  event.dataTransfer.effectAllowed = 'copy';
}
