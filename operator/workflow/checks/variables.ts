/** Checks that the variables that expressions and code read exist in the project. Pure. */
import { compileCondition } from '../../../api/cel.ts';
import { ExpressionError } from '../../../api/expression/errors.ts';
import { compileValue, referencesOf } from '../../../api/expression/template.ts';
import { type RevisionStep, revisionOf } from '../../../api/revision.ts';
import { type Variables, VARIABLES_BYTES, VARIABLES_NAME } from '../../../api/expression/variables.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { printPosition, requiredVariables } from '../../../nodes/code/source.ts';
import { nodesNamed } from '../../../nodes/skills/values.ts';
import { templatesOf, valuesOf } from '../../../nodes/step.ts';
import type { Violation } from './check.ts';

/** A variable that an expression or code reads without a default. */
type Use = { place: string; name: string };

/** Every variable that is read without a default has a value. */
export function variablesExist(spec: WorkflowSpec, variables: Variables): Violation[] {
  const uses = usesIn(spec);
  if (uses.length > 0 && variables.isTooLarge) {
    const limit = `${VARIABLES_BYTES / 1024} KiB`;
    return [
      {
        reason: 'VariablesTooLarge',
        message: `the ConfigMap ${VARIABLES_NAME} is larger than ${limit}, so that runs keep the values from before: make it smaller`,
      },
    ];
  }
  return uses
    .filter(({ name }) => !Object.hasOwn(variables.values, name))
    .map(({ place, name }): Violation => {
      const isInvalid = variables.invalid.includes(name);
      return isInvalid
        ? {
            reason: 'VariableInvalid',
            message: `${place}: the value of the variable ${name} is not JSON as an event may have it: correct it in the ConfigMap ${VARIABLES_NAME}`,
          }
        : {
            reason: 'VariableMissing',
            message: `${place}: the variable ${name} does not exist: add the key to the ConfigMap ${VARIABLES_NAME}, or write a default`,
          };
    });
}

function usesIn(spec: WorkflowSpec): Use[] {
  const ofSteps = revisionOf(spec).steps.flatMap((step) => [
    ...Object.entries(templatesOf(step)).flatMap(([field, value]) =>
      usesOf(`node ${step.id}: ${step.kind}.${field}`, () => inTemplates(value)),
    ),
    ...usesOf(`node ${step.id}: ${step.kind}.parameters`, () => {
      const values = valuesOf(step);
      return values ? nodesNamed(values).flatMap(({ names }) => names.requiredVariables) : [];
    }),
    ...usesInCode(step),
  ]);
  const ofEdges = (spec.edges ?? []).flatMap(({ from, to, when }) =>
    when === undefined
      ? []
      : usesOf(`edge ${from} → ${to}: when`, () => compileCondition(when).names.requiredVariables),
  );
  return [...ofSteps, ...ofEdges];
}

function usesInCode(step: RevisionStep): Use[] {
  if (step.kind !== 'code') return [];
  return [...requiredVariables(step.code.source)].map(([name, position]) => ({
    place: `node ${step.id}: code.source: ${printPosition(position)}`.replace(/: $/, ''),
    name,
  }));
}

function inTemplates(value: unknown): string[] {
  return referencesOf(compileValue(value)).flatMap((reference) =>
    reference.source === 'vars' && reference.default === undefined ? [String(reference.path[0])] : [],
  );
}

/** The uses in one place, each once. Another check reports expressions that cannot be parsed. */
function usesOf(place: string, read: () => readonly string[]): Use[] {
  try {
    return [...new Set(read())].map((name) => ({ place, name }));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return [];
  }
}
