/**
 * The register of formats that can be pasted on the canvas. The first that recognizes a text converts it;
 * texts of no format are left to the browser.
 */
import type { PasteFormat } from './format.ts';
import { isManifest } from './manifest.ts';
import { isN8nExport } from './n8n.ts';

/** Longer texts are no workflows. */
const LONGEST = 1_000_000;

const FORMATS: readonly PasteFormat[] = [
  {
    name: 'curl command',
    recognizes: (text) => /^\s*(?:\$\s+)?curl\s/.test(text),
    load: async () => (await import('./curl.ts')).convertCurl,
  },
  // An export is also JSON with a list of nodes.
  {
    name: 'n8n workflow',
    recognizes: isN8nExport,
    load: async () => (await import('./n8n.ts')).convertN8nExport,
  },
  {
    name: 'manifest',
    recognizes: isManifest,
    load: async () => (await import('./manifest.ts')).convertManifest,
  },
];

/** The format of the text; undefined: none. */
export function formatOf(text: string): PasteFormat | undefined {
  return text.length > LONGEST ? undefined : FORMATS.find(({ recognizes }) => recognizes(text));
}
