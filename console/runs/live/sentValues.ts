/** What a run shows of a node as sent. */
import { isRecord } from '../../../api/record.ts';
import type { NodeView } from './nodeView.ts';

/** `isMock`: it would have been sent, but a mock took the place of the step. */
export type SentValues = { parameters: [string, unknown][]; isTruncated: boolean; isMock: boolean };

/** Undefined where the run shows nothing. */
export function sentOf({ sent, mocked }: Pick<NodeView, 'sent' | 'mocked'>): SentValues | undefined {
  const shown = sent ?? mocked;
  if (!isRecord(shown?.parameters)) return undefined;
  return {
    parameters: Object.entries(shown.parameters),
    isTruncated: sent?.truncated === true,
    isMock: sent === undefined,
  };
}

/** Texts as they are, all other values as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
