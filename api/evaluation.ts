/** The Evaluation kind: cases that are run as test runs of a workflow, and how many of them passed. */
import * as z from 'zod';
import { costFields } from './budget.ts';
import { modelOverride } from './mock.ts';
import { conditions, objectName, rules, time } from './value.ts';

const EVALUATION_PHASES = ['Pending', 'Running', 'Succeeded', 'Failed'] as const;

/** How many failures a status shows. */
export const FAILURES_SHOWN = 20;

const variantName = z
  .string()
  .min(1)
  .max(32)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
  .describe('Name of the variant. Unique in the Evaluation.');

export const evaluationSpec = z
  .object({
    workflow: objectName('Name of the workflow, in the same namespace. It may be inactive.'),
    cases: z
      .object({
        configMap: z
          .object({
            name: objectName('Name of the ConfigMap, in the same namespace.'),
            key: z
              .string()
              .min(1)
              .max(253)
              .regex(/^[-._a-zA-Z0-9]+$/)
              .describe('Key inside the ConfigMap: a list in YAML or JSON.'),
          })
          .describe('The ConfigMap with the cases. It must not change before the Evaluation has ended.'),
      })
      .describe('The cases, at most 200.'),
    variants: z
      .array(
        z
          .object({
            name: variantName,
            revision: objectName(
              'The revision of the workflow. Default: the current one when the Evaluation starts.',
            ).optional(),
            model: modelOverride.optional(),
          })
          .describe('A revision and a model to compare.'),
      )
      .min(1)
      .max(4)
      .optional()
      .meta({
        description:
          'The revisions and models to compare. Default: one variant, named current, of the current revision.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      }),
    maxParallel: z
      .int()
      .min(1)
      .max(20)
      .optional()
      .describe('How many runs are unfinished at a time, at most. Default 2.'),
    repeat: z
      .int()
      .min(1)
      .max(20)
      .optional()
      .describe(
        'How often each case is run with each variant. Cases × variants × repeat must be at most 1,000. Default 1.',
      ),
  })
  .meta({
    description: 'What to evaluate. Immutable.',
    ...rules({
      rule: 'self == oldSelf',
      message: 'the spec of an Evaluation cannot be changed: create another Evaluation',
    }),
  });

const variantStatus = z
  .object({
    name: z.string().max(32).describe('Name of the variant.'),
    revision: z.string().max(253).describe('The revision that its runs execute.'),
    passed: z.int().min(0).describe('Runs that met all expectations.'),
    failed: z.int().min(0).describe('Runs that did not.'),
    total: z.int().min(0).describe('All runs, also those that have not ended.'),
    passRate: z.int().min(0).max(100).describe('The part of the ended runs that passed, in percent.'),
    tokens: z.int().min(0).describe('Input and output tokens of all ended runs.'),
    ...costFields,
    seconds: z.number().min(0).describe('The mean time of an ended run, in seconds.'),
  })
  .describe('The result of one variant.');

const failure = z
  .object({
    case: z.string().max(63).describe('Name of the case.'),
    variant: z.string().max(32).describe('Name of the variant.'),
    run: z.string().max(253).describe('The run.'),
    expectation: z.string().max(300).describe('What was expected.'),
    got: z.string().max(300).describe('What the run did instead.'),
  })
  .describe('An expectation that a run did not meet.');

export const evaluationStatus = z
  .object({
    phase: z
      .enum(EVALUATION_PHASES)
      .optional()
      .describe(
        'Pending: it cannot start, see the condition. Succeeded: all runs met their expectations. Failed: some did not, or it cannot be finished.',
      ),
    startTime: time('When it started.').optional(),
    completionTime: time('When it ended.').optional(),
    casesHash: z
      .string()
      .max(64)
      .optional()
      .describe(
        'A hash of the cases that it started with or, while it is Pending, of those that were read last.',
      ),
    started: z.int().min(0).optional().describe('How many runs were created.'),
    total: z.int().min(0).optional().describe('How many runs there will be.'),
    passed: z.int().min(0).optional().describe('Runs that met all expectations.'),
    failed: z.int().min(0).optional().describe('Runs that did not.'),
    result: z
      .string()
      .max(512)
      .optional()
      .describe('The variants side by side: pass rate, tokens, cost and mean time of each.'),
    variants: z
      .array(variantStatus)
      .max(4)
      .optional()
      .meta({ description: 'The result of each variant.', 'x-kubernetes-list-type': 'atomic' }),
    failures: z.array(failure).max(FAILURES_SHOWN).optional().meta({
      description: 'The first 20 expectations that were not met, in the order of the runs.',
      'x-kubernetes-list-type': 'atomic',
    }),
    conditions: conditions('The condition Complete.').optional(),
  })
  .describe('The observed state of the evaluation. Written by the operator.');

export type EvaluationSpec = z.infer<typeof evaluationSpec>;
export type EvaluationStatus = z.infer<typeof evaluationStatus>;
export type EvaluationVariant = NonNullable<EvaluationSpec['variants']>[number];
