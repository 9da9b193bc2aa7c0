/** Which fields a node's form has: those of its kind, and for a skill its credential and parameters. Pure but for the schemas. */
import { schemas } from 'windlass:schemas';
import type { NodeKind, WorkflowNode } from '../../../api/workflow.ts';
import { fieldsOf, type Field } from '../../forms/fields.ts';
import type { SkillSchema } from '../../schemas.ts';

/** What the schemas have and no runner executes yet: it is shown only where somebody has written it, so that it can be removed. */
const NOT_YET = ['forEach', 'tools'];

const OPTIONS = fieldsOf({ type: 'object', properties: schemas.stepOptions }, { path: 'options' });

/** The names of the options that every step takes. */
export const OPTION_NAMES: readonly string[] = Object.keys(schemas.stepOptions);

/** The options that every step takes. */
export function optionFields(given: object): Field[] {
  return OPTIONS.filter(({ name }) => isOffered(name, given));
}

/** The fields of a kind; test data have a place of their own. */
export function kindFields(kind: NodeKind, given: object = {}): Field[] {
  const schema = schemas.triggers[kind] ?? schemas.steps[kind];
  if (schema === undefined) return [];
  return fieldsOf(schema, { path: kind, without: ['testData'] }).filter(({ name }) => isOffered(name, given));
}

function isOffered(name: string, given: object): boolean {
  return !NOT_YET.includes(name) || Object.hasOwn(given, name);
}

/** The skill of a node; undefined where this version has none of that name. */
export function skillOf(node: WorkflowNode): SkillSchema | undefined {
  return schemas.skills.find(({ name }) => name === node.skill?.name);
}

/** Skill and credential. A skill that takes none has no field for it, unless one is set. */
export function skillFields(skill: SkillSchema | undefined, hasCredential: boolean): Field[] {
  return kindFields('skill').flatMap((field): Field[] => {
    if (field.name === 'parameters') return skill === undefined ? [field] : [];
    if (field.name !== 'credential') return [field];
    const kinds = skill?.credentials ?? [];
    if (kinds.length === 0 && !hasCredential) return [];
    const isRequired = kinds.length > 0 && skill?.credentialIsOptional !== true;
    return [{ ...field, isRequired, editor: { kind: 'credential', kinds } }];
  });
}

/** The parameters of a skill: each may hold references. */
export function parameterFields(skill: SkillSchema): Field[] {
  return fieldsOf(skill.parameters, { path: skill.name, isExpression: true });
}

/** What a kind does, in the words of its schema. */
export function kindHelp(kind: NodeKind): string | undefined {
  return (schemas.triggers[kind] ?? schemas.steps[kind])?.description;
}
