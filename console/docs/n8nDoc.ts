/** The page about workflows of n8n. Apart, so that the list of workflows does not load the other places. */
import type { DocPlace } from './doc.ts';

export const N8N_DOC: DocPlace = { page: 'import-n8n' };
