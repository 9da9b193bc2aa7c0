/** The fields of a tool of an agent, which calls a skill or runs a workflow. Pure. */
import { fieldsOf, type Field } from './fields.ts';
import type { FieldSchema } from './schemas.ts';
import type { Values } from './values.ts';

/** The fields that only tools with a skill have. */
const OF_SKILLS: readonly string[] = ['skill', 'credential', 'modelMaySet', 'effect'];

/** What the tool calls. A new tool calls a skill. */
export function kindOfTool({ workflow }: Values): 'skill' | 'workflow' {
  return workflow === undefined ? 'skill' : 'workflow';
}

/** The tool with the other kind: it keeps the fields that both kinds have. */
export function changeTool(kind: string, values: Values): Values {
  if (kind === kindOfTool(values)) return values;
  const kept = Object.entries(values).filter(([name]) => name !== 'workflow' && !OF_SKILLS.includes(name));
  return { [kind]: '', ...Object.fromEntries(kept) };
}

type ToolSkill = { credentials: readonly string[]; credentialIsOptional: boolean };

/** `schema`: that of a tool. `skill`: the one that the tool names. Skills without credentials offer none. */
export function toolFields(schema: FieldSchema, values: Values, skill: ToolSkill | undefined): Field[] {
  const isWorkflow = kindOfTool(values) === 'workflow';
  return fieldsOf(schema, { path: 'agent.tools[]' }).flatMap((field): Field[] => {
    if (isWorkflow && field.name === 'workflow')
      return [{ ...field, isRequired: true, editor: { kind: 'workflow' } }];
    if (isWorkflow) return OF_SKILLS.includes(field.name) ? [] : [field];
    if (field.name === 'workflow') return [];
    if (field.name === 'skill') return [{ ...field, isRequired: true, editor: { kind: 'skill' } }];
    if (field.name !== 'credential') return [field];
    const kinds = [...(skill?.credentials ?? [])];
    if (kinds.length === 0) return [];
    const isRequired = skill?.credentialIsOptional !== true;
    return [{ ...field, isRequired, editor: { kind: 'credential', kinds } }];
  });
}
