/**
 * Applies the rules of a skill to its parameters, when the workflow is checked and when a step is executed.
 */
import type { Scope } from '../../api/expression/scope.ts';
import { evaluateSourced, type SourcedValue } from '../../api/expression/sourced.ts';
import { compileValue } from '../../api/expression/template.ts';
import { StepError } from '../../api/reasons.ts';
import type { ParameterRule, Skill, WrittenParameters } from '../contract/skill.ts';

type Rules = Skill['rules'];

/**
 * Compiles the parameters that have a rule. The function that it returns gives their values, by name.
 * @throws ExpressionError; the function throws StepError `InvalidParameters`, beginning with the parameter's
 * name
 */
export function compileRules(
  rules: Rules,
  written: WrittenParameters,
): (scope: Scope) => Record<string, unknown> {
  const compiled = ruled(rules, written).map(
    ([name, rule]) => [name, rule, compileValue(written[name])] as const,
  );
  return (scope) =>
    Object.fromEntries(
      compiled.map(([name, rule, value]) => [
        name,
        compose(name, rule, evaluateSourced(value, scope), written),
      ]),
    );
}

/**
 * Checks a workflow's parameters by their rules. Answers with the parameters, of which those without a
 * reference are as their rule makes them, and with what is wrong, as sentences that begin with the
 * parameter's name.
 * @throws ExpressionError
 */
export function checkRules(
  rules: Rules,
  written: WrittenParameters,
): { parameters: WrittenParameters; problems: string[] } {
  const parameters: Record<string, unknown> = { ...written };
  const problems: string[] = [];
  for (const [name, rule] of ruled(rules, written)) {
    try {
      const template = compileValue(written[name]);
      if (template.kind === 'literal') parameters[name] = compose(name, rule, template, written);
      else named(name, () => rule.check?.(template));
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      problems.push(error.message);
    }
  }
  return { parameters, problems };
}

function ruled(rules: Rules = {}, written: WrittenParameters): [string, ParameterRule][] {
  return Object.entries(rules).filter(([name]) => written[name] !== undefined);
}

function compose(
  name: string,
  rule: ParameterRule,
  given: SourcedValue,
  written: WrittenParameters,
): unknown {
  return named(name, () => rule.compose(given, written));
}

function named<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    throw new StepError(error.reason, `${name}: ${error.message}`, { cause: error });
  }
}
