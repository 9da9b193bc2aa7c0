/** What a skill is: a named action with parameters, one file each. The register lists them. */
import * as z from 'zod';
import type { CredentialKind } from '../../api/credential.ts';
import { toText } from '../../api/expression/evaluate.ts';
import type { Effect, StepContext, StepResult } from '../node.ts';

/** A skill with the type of its parameters. */
export type SkillDefinition<Parameters> = {
  /** What workflows call it. */
  name: string;
  description: string;
  parameters: z.ZodType<Parameters>;
  /** The kinds of credential that it takes. Empty: it takes none. */
  credentials: readonly CredentialKind[];
  /** Whether it also works without one. */
  credentialIsOptional?: true;
  /** What becomes of it after a crash, unless the step says otherwise. `None`: it only computes. */
  effect: Effect | 'None';
  /** Does it. `credential` is the name that the step gives, if it gives one; throws a StepError for whatever goes wrong. */
  execute(parameters: Parameters, context: StepContext, credential: string | undefined): Promise<StepResult>;
};

/** A skill of which nothing but the name, the schema and the action is known. */
export type Skill = Omit<SkillDefinition<unknown>, 'execute'> & {
  /** Throws a StepError `InvalidParameters` when the evaluated parameters do not fit. */
  execute(parameters: unknown, context: StepContext, credential: string | undefined): Promise<StepResult>;
};

/** A parameter that is text. What a reference yields may be of any type: numbers are written out, objects as JSON. */
export const textParameter = (limit: number, description: string) =>
  z
    .preprocess(
      (value) => (value === undefined || value === null ? value : toText(value)),
      z.string('must be text').max(limit, `may have at most ${limit} characters`),
    )
    .meta({ type: 'string', description });
