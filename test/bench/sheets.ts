/**
 * `sheets`: what polls of a spreadsheet of 100,000 rows and 20 columns cost: CPU, memory, and requests to the
 * provider.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { POD_HEAP, POD_MIB } from '../support/runner/pollPods.ts';
import { startSheetsServer, type SheetsServer } from '../support/providers/google/sheetsServer.ts';
import type { Figure } from './report.ts';
import type { PollTook } from './sheetsProcess.ts';

const ROWS = 100_000;
const COLUMNS = 20;
const program = fileURLToPath(new URL('sheetsProcess.ts', import.meta.url));

const BANNER =
  "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);";

type Rows = ReturnType<SheetsServer['sheet']>['rows'];

function rowsOf(edited: (row: number) => boolean): Rows {
  const header = Array.from({ length: COLUMNS }, (_, column) => `Column ${column}`);
  const rows = Array.from({ length: ROWS }, (_, row) =>
    Array.from({ length: COLUMNS }, (_, column) => {
      if (column === 0) return `key-${row}`;
      if (column === 2 && edited(row)) return 'edited';
      return column % 3 === 1 ? row * column : `text ${row} ${column}`;
    }),
  );
  return [header, ...rows];
}

export async function sheets(): Promise<Figure[]> {
  const server = await startSheetsServer();
  const folder = await mkdtemp(join(tmpdir(), 'windlass-bench-'));
  const outfile = join(folder, 'sheets.mjs');
  // One file, as in the image: to read many takes memory, too.
  await build({
    entryPoints: [program],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: BANNER },
  });
  const child = fork(outfile, [server.url, 'Column 0'], { execArgv: POD_HEAP });
  try {
    const options = { columnCount: COLUMNS };
    const steps: [name: string, rows: Rows | undefined, changes: number][] = [
      ['first poll', rowsOf(() => false), 0],
      ['nothing changed', undefined, 0],
      ['100 rows edited', rowsOf((row) => row % 1_000 === 5), 100],
      ['all sorted', [], 0],
      ['all rows edited', rowsOf((row) => row % 1_000 !== 5), ROWS],
    ];
    const figures: Figure[] = [];
    for (const [name, rows, changes] of steps) {
      if (rows?.length) server.put('orders', rows, options);
      else if (rows) sort(server);
      const asked = server.requests.length;
      child.send('poll');
      const [took] = (await once(child, 'message')) as [PollTook];
      if (took.changes !== changes) throw new Error(`${name}: ${took.changes} changes, not ${changes}`);
      figures.push(...figuresOf(name, took, server.requests.length - asked));
    }
    return figures;
  } finally {
    child.kill();
    await rm(folder, { recursive: true });
    await server.close();
  }
}

function sort(server: SheetsServer): void {
  const sheet = server.sheet('orders');
  const [header = [], ...rows] = sheet.rows;
  sheet.rows = [header, ...rows.toReversed()];
  server.touch('orders');
}

function figuresOf(
  name: string,
  { events, cpuMs, memoryMiB, keptKiB }: PollTook,
  requests: number,
): Figure[] {
  return [
    { name: `${name}: CPU`, value: cpuMs, unit: 'ms' },
    {
      name: `${name}: memory so far`,
      value: memoryMiB,
      unit: 'MiB',
      goal: { at: 'most', value: POD_MIB, of: 'value' },
    },
    { name: `${name}: requests to the provider`, value: requests, unit: 'requests' },
    { name: `${name}: events`, value: events, unit: 'events' },
    { name: `${name}: remembered`, value: keptKiB, unit: 'KiB' },
  ];
}
