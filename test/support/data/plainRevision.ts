/** A revision of a workflow with a webhook and no steps, all of whose data are recorded. */
import type { Revision } from '../../../api/revision.ts';

export const PLAIN_REVISION: Revision = {
  trigger: { id: 'trigger', kind: 'webhook', testData: { text_content: '', data_content: {} } },
  steps: [],
  edges: [],
  timeoutMs: 60_000,
};
