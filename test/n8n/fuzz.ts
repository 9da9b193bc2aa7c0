/**
 * Imports workflows with mistakes: `node test/n8n/fuzz.ts FOLDER [COUNT]` mutates the exports in a folder, by
 * default 10,000 times, and fails if a conversion throws, takes more than 10 s, or makes documents that the
 * checks refuse.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { convertN8n } from '../../cli/n8n/convert.ts';
import { problemsOf } from '../../cli/n8n/workflow/check.ts';
import { mutated, randoms } from '../support/n8n/mutations.ts';

const SLOW_MS = 10_000;
const [folder = '.', count = '10000'] = process.argv.slice(2);
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
  .map((entry) => join(entry.parentPath, entry.name))
  .toSorted();
const random = randoms(20_261_126);
const findings: string[] = [];
let documents = 0;
let slowest = 0;

for (let at = 0; at < Number(count); at += 1) {
  const file = files[at % files.length] ?? '';
  try {
    const json = mutated(JSON.parse(readFileSync(file, 'utf8')), random);
    const started = performance.now();
    const made = convertN8n(json).documents;
    const took = performance.now() - started;
    slowest = Math.max(slowest, took);
    if (took > SLOW_MS) findings.push(`${at} ${file}: ${Math.round(took)} ms`);
    documents += made.length;
    for (const document of made)
      if (document.kind === 'Workflow')
        findings.push(...problemsOf(document.spec).map(({ message }) => `${at} ${file}: ${message}`));
  } catch (error) {
    if (!(error instanceof SyntaxError)) findings.push(`${at} ${file}: ${String(error)}`);
  }
}
console.log(
  `${count} workflows with mistakes, ${documents} documents, ${findings.length} findings, the slowest took ${Math.round(slowest)} ms`,
);
for (const finding of findings.slice(0, 20)) console.log(`  ${finding}`);
if (findings.length > 0) process.exitCode = 1;
