/** Writes what is derived from `api/`: the CRDs, the chart's copy of them, the field reference. `npm run generate`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { crdOf } from '../api/crd.ts';
import { KINDS } from '../api/kinds.ts';
import { SKILLS } from '../nodes/register.ts';
import { referencePage, skillsPage } from './reference.ts';

const root = join(import.meta.dirname, '..');
const HEADER = '# Generated from api/ by `npm run generate`. Do not edit.\n';
const yaml = (value: unknown) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

function write(path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
}

/** The chart's copy: kept when the release is removed (deleting a CRD deletes every object of it), and optional. */
function chartCopy(crd: ReturnType<typeof crdOf>): string {
  const annotated = structuredClone(crd) as { metadata: Record<string, unknown> };
  annotated.metadata.annotations = { 'helm.sh/resource-policy': 'keep' };
  const escaped = yaml(annotated).replaceAll('{{', '{{ "{{" }}');
  return `${HEADER}{{- if .Values.crds.install }}\n${escaped}{{- end }}\n`;
}

rmSync(join(root, 'crds'), { recursive: true, force: true });
for (const kind of KINDS) {
  const crd = crdOf(kind);
  write(`crds/${kind.plural}.yaml`, HEADER + yaml(crd));
  write(`charts/windlass/templates/crds/${kind.plural}.yaml`, chartCopy(crd));
  write(`docs/reference/${kind.plural}.md`, referencePage(kind));
}
write('docs/reference/skills.md', skillsPage(SKILLS));
console.log(`generated ${KINDS.length} CRDs, their chart copies and the reference pages`);
