/** Checks of code nodes that only the sandbox can answer. */
import { createHash } from 'node:crypto';
import { createSyntaxCheck, TOO_COMPLEX } from '../../../nodes/code/syntax.ts';
import { printPosition, referencedNodes, requiredNodes } from '../../../nodes/code/source.ts';
import { withoutDisabled } from '../../../api/disabled.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { Check, Violation } from './check.ts';
import { readsNoDisabled } from './disabled.ts';
import { checkNode, visibilityOfSpec } from './expressions.ts';

const syntaxProblem = createSyntaxCheck();

/** The problems of sources by their hash, the oldest first: each source is compiled once. */
const known = new Map<string, string | undefined>();
const SOURCES_KEPT = 1_000;

/** No node has code where the installation does not execute it. */
export function codeIsEnabled({ nodes }: WorkflowSpec, isEnabled: boolean): Violation[] {
  if (isEnabled) return [];
  return nodes.flatMap(({ id, code }): Violation[] =>
    code
      ? [
          {
            reason: 'CodeDisabled',
            message: `node ${id}: this installation does not execute code (chart value runner.code.enabled): use the skill set`,
          },
        ]
      : [],
  );
}

/**
 * Compiles the sources, one after the other in a thread. Ends with the first that cannot be compiled in time,
 * so that no workflow occupies the thread.
 */
export async function compileSources(spec: WorkflowSpec): Promise<Violation[]> {
  const { nodes } = withoutDisabled(spec);
  const violations: Violation[] = [];
  for (const { id, code } of nodes) {
    const problem = code && (await problemOf(code.source));
    if (!problem) continue;
    violations.push({ reason: 'InvalidCode', message: `node ${id}: code.source: ${problem}` });
    if (problem === TOO_COMPLEX) break;
  }
  return violations;
}

/** A source that is too complex is compiled again the next time: the processor may have been busy. */
async function problemOf(source: string): Promise<string | undefined> {
  const key = createHash('sha256').update(source).digest('base64');
  if (known.has(key)) return known.get(key);
  const problem = await syntaxProblem(source);
  if (problem === TOO_COMPLEX) return problem;
  const [oldest] = known.keys();
  if (known.size >= SOURCES_KEPT && oldest !== undefined) known.delete(oldest);
  known.set(key, problem);
  return problem;
}

/** Every node that a source names comes before it. */
export const codeReferencesAreKnown: Check = (spec) => {
  const visible = visibilityOfSpec(spec);
  return spec.nodes.flatMap(({ id, code }) => {
    const source = code?.source ?? '';
    const required = requiredNodes(source);
    const place = `node ${id}: code.source`;
    return [...referencedNodes(source)].flatMap(([name, position]) => {
      const named = { id: name, written: `${printPosition(position)}nodes.${name}` };
      const unknown = checkNode(named, id, place, visible);
      return unknown.length > 0 || !required.has(name) ? unknown : readsNoDisabled(named, place, spec, CODE);
    });
  });
};

const CODE = 'read it as nodes.<ID>?.data_content';
