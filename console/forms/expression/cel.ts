/**
 * Converts references to CEL: `nodes.agent_1.data_content.items[0]["any key"]` for
 * `$('agent_1').data_content.items[0]['any key']`.
 */
import { parseTemplate } from '../../../api/expression/parse.ts';
import type { PathStep, Reference } from '../../../api/expression/reference.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const RESERVED = new Set([
  'true',
  'false',
  'null',
  'in',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
]);

/** One path step in CEL. */
export function celStep(step: PathStep): string {
  if (typeof step === 'number') return `[${step}]`;
  return NAME.test(step) && !RESERVED.has(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}

/** The CEL of a reference as it is written between braces. Other text stays unchanged. */
export function celOf(written: string): string {
  const reference = referenceIn(written);
  if (reference === undefined) return written;
  if (reference.source === 'index') return 'index';
  // A condition cannot name a URL.
  if (reference.source === 'url') return written;
  const path = reference.path.map(celStep).join('');
  if (reference.source === 'node') return `nodes.${reference.node}.${reference.member}${path}`;
  return reference.source === 'previous'
    ? `previous.${reference.member}${path}`
    : `${reference.source}${path}`;
}

function referenceIn(written: string): Reference | undefined {
  try {
    const { parts, single } = parseTemplate(`{{ ${written} }}`);
    const [part] = parts;
    return single && typeof part === 'object' ? part : undefined;
  } catch {
    return undefined;
  }
}
