/** The contract of skills: a named action with parameters. */
import * as z from 'zod';
import type { CredentialKind } from '../../api/credential.ts';
import { ExactNumber } from '../../api/exact/exactNumber.ts';
import { toText } from '../../api/expression/evaluate.ts';
import { plainOf, type SourcedValue } from '../../api/expression/sourced.ts';
import type { CompiledValue } from '../../api/expression/template.ts';
import { StepError } from '../../api/reasons.ts';
import type { Effect, StepContext, StepResult } from './node.ts';

/** The parameters as the workflow has them, with their references. */
export type WrittenParameters = Readonly<Record<string, unknown>>;

/**
 * How a parameter is made of what the author wrote and what references gave. For values that another program
 * parses again, such as addresses and URLs.
 */
export type ParameterRule = {
  /**
   * The parameter says where data goes, or what is done there: a model sets it only within a pattern of the
   * author.
   */
  isDestination?: true;
  /** A model never sets it: it changes how the request is read, or what a reader of the text is shown. */
  isHiddenFromModels?: true;
  /**
   * Checks, with the workflow, what is wrong whatever the references give.
   * @throws StepError `InvalidParameters`; the message follows the parameter's name
   */
  check?(template: CompiledValue): void;
  /**
   * The value that the schema checks.
   * @throws StepError `InvalidParameters`; the message follows the parameter's name
   */
  compose(given: SourcedValue, written: WrittenParameters): unknown;
};

/** A skill with the type of its parameters. */
export type SkillDefinition<Parameters> = {
  /** What workflows call it. */
  name: string;
  description: string;
  parameters: z.ZodType<Parameters>;
  /** By the name of the parameter. One without a rule is evaluated as it is written. */
  rules?: Readonly<Record<string, ParameterRule>>;
  /** The kinds of credential that it takes. Empty: it takes none. */
  credentials: readonly CredentialKind[];
  /** Whether it also works without one. */
  credentialIsOptional?: true;
  /** Its result is data of an account or of a server. */
  isSource?: true;
  /** Why it cannot be a tool of an agent. Left out: it can. */
  notAsTool?: string;
  /** What becomes of it after a crash, unless the step says otherwise. `None`: it only computes. */
  effect: Effect | 'None';
  /**
   * Does it. `credential` is the name that the step gives, if it gives one; throws a StepError for whatever
   * goes wrong.
   */
  execute(parameters: Parameters, context: StepContext, credential: string | undefined): Promise<StepResult>;
};

/** A skill whose parameters have any type. */
export type Skill = Omit<SkillDefinition<unknown>, 'execute'> & {
  /** Throws a StepError `InvalidParameters` when the evaluated parameters do not fit. */
  execute(parameters: unknown, context: StepContext, credential: string | undefined): Promise<StepResult>;
};

/** A parameter that takes numbers, and exact numbers as their digits. */
export const exactAsText = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value instanceof ExactNumber ? value.text : value), schema);

/**
 * A parameter that is text. What a reference yields may be of any type: numbers are written out, objects as
 * JSON.
 */
export const textParameter = (limit: number, description: string) =>
  z
    .preprocess(
      (value) => (value === undefined || value === null ? value : toText(value)),
      z.string('must be text').max(limit, `may have at most ${limit} characters`),
    )
    .meta({ type: 'string', description });

/** A parameter that says where data goes, and whose schema admits one place alone. */
export const destination: ParameterRule = { isDestination: true, compose: plainOf };

/** A parameter that models never set. References may give it. */
export const hiddenFromModels: ParameterRule = { isHiddenFromModels: true, compose: plainOf };

/** A parameter that decides how others are read: only the author of the workflow may set it. */
export const writtenByAuthor: ParameterRule = {
  isHiddenFromModels: true,
  check: refuseReference,
  compose: (given) => {
    if (given.kind === 'literal') return given.value;
    return refuseReference();
  },
};

function refuseReference(): never {
  throw new StepError('InvalidParameters', 'takes no reference: write the value in the workflow');
}
