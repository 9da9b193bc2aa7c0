/** The chart as a next version would have it: what an upgrade changes, with the same programs. */
import { appendFile, cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CHART } from './chart.ts';
import { makeFolder } from '../process/folder.ts';

const NEXT = '99.0.0';

/**
 * A copy of the chart with another version and appVersion, and with other scripts for the pod of Redis. It
 * goes with this process.
 */
export async function nextChart(): Promise<string> {
  const { path } = await makeFolder('chart');
  const copy = join(path, 'windlass');
  await cp(CHART, copy, { recursive: true });
  const description = join(copy, 'Chart.yaml');
  const text = await readFile(description, 'utf8');
  await writeFile(description, text.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${NEXT}`));
  await appendFile(join(copy, 'files/redis/accounts.sh'), '# changed\n');
  return copy;
}
