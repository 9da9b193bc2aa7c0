/**
 * `npm run test:contract`: thousands of requests made from `/openapi.json`, valid and not, to a gateway with
 * everything real behind it; every answer is compared with what the description says. Ends with 1 when one
 * differs.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SHOWN } from '../support/gateway/botRoutes.ts';
import { makeFolder } from '../support/process/folder.ts';
import { prepareForTests } from '../support/prepare.ts';
import { createProgress } from '../support/process/progress.ts';
import { preparePython, tryContract, type Python } from './schemathesis.ts';
import { startContractHarness, type ContractHarness } from './harness.ts';

const HELP = `npm run test:contract [-- --examples N] [--seed N]

Sends at least N requests (default 2000) made from /openapi.json to both listeners of a gateway and compares every answer with
the description. The same seed makes the same requests. Needs Python 3 with pip; installs what test/contract/requirements.txt names.`;

/**
 * These make as many cases as the description has examples and edges; repeated with another seed they are the
 * same.
 */
const GIVEN = ['examples', 'coverage'];
/** Of so many cases in all, each operation gets one in each phase. */
const SPREAD = 40;

async function contract(examples: number, seed: number): Promise<number> {
  const progress = createProgress(process.stderr);
  await prepareForTests('integration');
  const python = await preparePython(progress);
  const { path: folder, remove } = await makeFolder('openapi');
  const harness = await startContractHarness();
  try {
    const schemas = await writeSchemas(harness, folder);
    await python('openapi_spec_validator', ['--schema', '3.1.0', schemas.whole]);
    return await tryAll(python, harness, schemas, { examples, seed });
  } finally {
    await harness.close();
    remove();
  }
}

type Schemas = { whole: string; narrow: string };
type Parameter = { name: string; in: string; required?: boolean; schema: object };
type Document = { paths: Record<string, Record<string, { parameters: Parameter[] }>> };

/**
 * The workflow and the bot that exist. The namespace is not fixed: the caller may read all namespaces, so
 * that every valid name gets an answer.
 */
const PLACES: Record<string, string> = {
  id: 'shop.orders',
  path: 'new',
  credential: 'shop.mailbox',
};

/**
 * The description as it is, in a file; and one that knows only the workflow and the bot that are there, and
 * what the bot's messages show, so that more requests than those of the examples get beyond them.
 */
async function writeSchemas({ internalURL }: ContractHarness, folder: string): Promise<Schemas> {
  const text = await (await fetch(`${internalURL}/openapi.json`)).text();
  const document = JSON.parse(text) as Document;
  for (const { parameters } of Object.values(document.paths).flatMap((path) => Object.values(path)))
    for (const parameter of parameters) {
      const only = parameter.in === 'path' ? PLACES[parameter.name] : SHOWN[parameter.name.toLowerCase()];
      if (only === undefined) continue;
      parameter.schema = { type: 'string', enum: [only] };
      parameter.required = true;
    }
  const schemas = { whole: join(folder, 'openapi.json'), narrow: join(folder, 'narrow.json') };
  await writeFile(schemas.whole, text);
  await writeFile(schemas.narrow, JSON.stringify(document));
  return schemas;
}

/**
 * Seeds one after the other until there were enough cases, first from the whole description, then from both
 * alternately.
 */
async function tryAll(
  python: Python,
  { internalURL, publicURL, token }: ContractHarness,
  { whole, narrow }: Schemas,
  { examples, seed }: { examples: number; seed: number },
): Promise<number> {
  const maxExamples = Math.max(2, Math.ceil(examples / SPREAD));
  let sent = 0;
  for (let round = 0; round < 2 || sent < examples; round += 1) {
    const given = round === 0 ? GIVEN : [];
    const common = { schema: round % 2 === 0 ? whole : narrow, maxExamples, seed: seed + round };
    const inside = await tryContract(python, {
      ...common,
      url: internalURL,
      tag: 'internal',
      phases: [...given, 'fuzzing', 'stateful'],
      authorization: `Bearer ${token}`,
    });
    const outside = await tryContract(python, {
      ...common,
      url: publicURL,
      tag: 'public',
      phases: [...given, 'fuzzing'],
    });
    sent += inside + outside;
    console.log(
      `seed ${common.seed}: ${inside} requests to the internal listener, ${outside} to the public one`,
    );
  }
  return sent;
}

const { values } = parseArgs({
  options: {
    examples: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
const [examples, seed] = [Number(values.examples), Number(values.seed)];
if (values.help) console.log(HELP);
else if (!Number.isInteger(examples) || examples < 1 || !Number.isInteger(seed) || seed < 0) {
  console.error('--examples and --seed take whole numbers');
  process.exitCode = 2;
} else {
  try {
    console.log(`contract: ${await contract(examples, seed)} requests, every answer as described`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
