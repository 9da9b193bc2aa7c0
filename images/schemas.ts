/**
 * The JSON Schemas behind the console's forms, from the same zod schemas that the CRDs come from: nothing is
 * described twice.
 */
import * as z from 'zod';
import { credentialSpec } from '../api/credential.ts';
import { nodeOptions, stepOptions, steps } from '../api/step.ts';
import { runSpec } from '../api/run.ts';
import { triggers } from '../api/trigger.ts';
import { workflowSpec } from '../api/workflow.ts';
import type { FieldSchema, Schemas, SkillSchema } from '../console/forms/schemas.ts';
import { SKILLS } from '../nodes/register.ts';

/** All schemas, as data. */
export function consoleSchemas(): Schemas {
  const { nodes: _nodes, edges: _edges, active: _active, ...workflow } = workflowSpec.shape;
  return {
    triggers: schemasOf(triggers),
    steps: schemasOf(steps),
    nodeOptions: schemasOf(nodeOptions),
    stepOptions: schemasOf(stepOptions),
    workflow: schemaOf(z.object(workflow)),
    skills: SKILLS.map(
      (skill): SkillSchema => ({
        name: skill.name,
        description: skill.description,
        credentials: [...skill.credentials],
        credentialIsOptional: skill.credentialIsOptional === true,
        effect: skill.effect,
        parameters: schemaOf(skill.parameters),
      }),
    ),
    credentials: schemasOf(credentialSpec.shape),
    runFields: Object.keys(runSpec.shape),
  };
}

function schemasOf(shape: Record<string, z.ZodType>): Record<string, FieldSchema> {
  return Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, schemaOf(schema)]));
}

function schemaOf(schema: z.ZodType): FieldSchema {
  const { $schema: _draft, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest as FieldSchema;
}
