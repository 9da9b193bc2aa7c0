/** Nodes with JavaScript that people wrote. */
import {
  computeEach,
  computeList,
  computeOne,
  computePaired,
  computeSame,
  computeSeveral,
} from '../steps/compute.ts';
import { itemsOf } from '../expressions/returned.ts';
import { isBody } from '../expressions/expression.ts';
import { textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';

/** What code of n8n may use and the sandbox does not have. */
const ABSENT: readonly [RegExp, string][] = [
  [/\brequire\s*\(/, 'require()'],
  [/\bimport\s*\(|^\s*import\s/m, 'import'],
  [/\bthis\.helpers\b|\$helpers\b|\bhelpers\.(?:httpRequest|request)/, 'this.helpers'],
  [/\bfetch\s*\(|\baxios\b|XMLHttpRequest|\$http\b/, 'HTTP requests'],
  [/\bgetWorkflowStaticData\b/, 'static data'],
  [/\bsetTimeout\b|\bsetInterval\b/, 'timers'],
  [/\bprocess\.|\b__dirname\b/, 'process'],
  [/(?<![\w.])crypto\./, 'crypto'],
  [/\$evaluateExpression\b|\bthis\.(?:getNodeParameter|getCredentials)/, 'functions of n8n nodes'],
  [/(?<![.\w$])nodes\s*[.[]/, 'a variable named nodes'],
];

const absentIn = (source: string): string[] =>
  ABSENT.flatMap(([pattern, name]) => (pattern.test(source) ? [name] : []));

const MAX_SOURCE = 50_000;

/** Why the code cannot be executed here; undefined if it can. */
function obstacle(source: string, language: string): string | undefined {
  if (language !== 'javaScript') return 'Python is not imported: rewrite the code in JavaScript';
  if (source.length > MAX_SOURCE) return `the code has more than ${MAX_SOURCE} characters: split it`;
  const absent = absentIn(source);
  if (absent.length > 0)
    return `the sandbox has no ${absent.join(', ')}: rewrite the code, or use other nodes`;
  return isBody(source) ? undefined : 'the code is no valid JavaScript: correct it';
}

/** Code that says which items belong together, or passes on some of its own in another order. */
const PAIRS_ITSELF = /pairedItem|(?:items|\$input\.all\(\))\s*\.(?:filter|slice|sort|reverse|splice)\(/;

function failing(context: NodeContext, problem: string): Draft {
  context.note('manual', problem);
  return computeList(context, `throw new Error(${JSON.stringify(`Not imported: ${problem}`)});`);
}

/** The current Code node, and the older Function and Function Item. */
export function convertCode(context: NodeContext): Draft {
  const { node, parameters } = context;
  const isOld = node.type.endsWith('.function') || node.type.endsWith('.functionItem');
  const source = textOf(
    isOld ? parameters['functionCode'] : parameters['jsCode'],
    textOf(parameters['pythonCode']) ? '' : 'return items;',
  );
  const problem = obstacle(
    source,
    parameters['language'] === undefined || isOld ? 'javaScript' : textOf(parameters['language']),
  );
  if (problem) return failing(context, problem);
  if (/\.binary\b|\$binary\b/.test(source))
    context.note('review', 'items have no binary data: binary is empty');
  if (node.type.endsWith('.functionItem')) return eachItem(context, source, 'item');
  if (!isOld && textOf(parameters['mode']) === 'runOnceForEachItem') return eachItem(context, source, '');
  const result = `const items = wrap($in);
const $json = $in[0];
const result = await (async () => {
${source}
})();`;
  const count = itemsOf(source);
  if (count === 'one') return computeOne(context, `${result}\nreturn unwrap(result)[0];`);
  const body = `${result}\nreturn unwrap(result);`;
  if (count === 'same' && !context.input.single) return computeSame(context, body);
  return PAIRS_ITSELF.test(source) ? computeList(context, body) : computePaired(context, body);
}

/** Code that is executed for each item. The items of a Function Item are their data. */
function eachItem(context: NodeContext, source: string, name: string): Draft {
  const own = name === '' ? 'const item = wrap([$json])[0];' : `const ${name} = $json;`;
  if (context.input.single || context.input.sources.length === 0)
    return computeEach(context, `unwrap(await (async () => {\n${own}\n${source}\n})())[0]`);
  return computeSeveral(
    context,
    `return await Promise.all(each(async ($json) => {
  ${own}
  return unwrap(await (async () => {
${source}
  })());
}));`,
  );
}
