/**
 * `scale`: calibrates the model of docs/scale.md: one operator with 100 projects of 10 workflows, and with
 * twice as many. What the model predicts for twice the load, twice the cost of each project and once that of
 * the installation, stands beside what was measured.
 */
import { figuresOf, measureProjects, type Measured } from './manyProjects.ts';
import type { Figure } from './report.ts';

/** For trying the script: 0.1 makes 10 projects, and 20. */
const PROJECTS = Math.round(100 * Number(process.env['BENCH_SCALE'] ?? '1'));

export async function scale(): Promise<Figure[]> {
  const empty = await measureProjects(0);
  const once = await measureProjects(PROJECTS);
  const twice = await measureProjects(2 * PROJECTS);
  return [
    ...figuresOf(once, { goals: false }),
    ...figuresOf(twice, { goals: false }),
    ...predictions({ empty, once, twice }),
  ];
}

type Prediction = { name: string; unit: string; of: (measured: Measured) => number };

const PREDICTED: Prediction[] = [
  {
    name: 'processor until all are ready',
    unit: 's',
    of: ({ processor }) => processor.operator + processor.server,
  },
  { name: 'commands of Redis at rest', unit: '/s', of: ({ rest }) => rest.commands },
  {
    name: 'processor of the operator at rest',
    unit: '% of a core',
    of: ({ rest }) => rest.operatorPercent,
  },
  { name: 'processor of Redis at rest', unit: '% of a core', of: ({ rest }) => rest.redisPercent },
];

function predictions({ empty, once, twice }: Record<'empty' | 'once' | 'twice', Measured>): Figure[] {
  return PREDICTED.map(({ name, unit, of }) => ({
    name: `${name}: twice the projects`,
    value: of(twice),
    unit,
    ratio: { to: 'predicted', value: of(twice) / (2 * of(once) - of(empty)) },
  }));
}
