/** The form fields of nodes, built from the schemas of their kinds and skills. */
import { schemas } from 'windlass:schemas';
import type { NodeKind, WorkflowNode } from '../../../api/workflow.ts';
import { alternativesOf, fieldsOf, type Field } from '../../forms/fields.ts';
import type { SkillSchema } from '../../forms/schemas.ts';
import { valuesOf } from '../../forms/values.ts';
import { LOOPS, nodeKind, refusedOptions } from '../../workflows/kinds.ts';

const OPTIONS = fieldsOf(
  { type: 'object', properties: { ...schemas.stepOptions, ...schemas.nodeOptions } },
  { path: 'options' },
);

/** Options with inputs of their own. */
const ELSEWHERE = ['within', 'disabled', ...LOOPS];

export const OPTION_NAMES: readonly string[] = OPTIONS.map(({ name }) => name).filter(
  (name) => !ELSEWHERE.includes(name),
);

/** The options that have an effect on the node, and those that are set, so that they can be removed. */
export function optionFields(node: WorkflowNode): Field[] {
  const refused = refusedOptions(node);
  return OPTIONS.filter(
    ({ name }) => OPTION_NAMES.includes(name) && (!refused.includes(name) || Object.hasOwn(node, name)),
  ).map((field) => withHelp(field, node));
}

/** The default and the help of options that differ for agents, loops and groups. */
function withHelp(field: Field, { agent, group, forEach }: WorkflowNode): Field {
  if (field.name === 'timeout' && agent !== undefined) return { ...field, placeholder: '10m' };
  if (field.name === 'timeout' && group !== undefined) {
    const { placeholder: _other, ...rest } = field;
    const help = `How long the group may take${forEach ? ' for one item' : ''}, with its waits. Default: no limit.`;
    return { ...rest, help };
  }
  if (field.name !== 'onError') return field;
  if (forEach !== undefined)
    return {
      ...field,
      help: 'What happens when an item fails. Fail: no further item starts, and the node fails; Continue: the other items run, and the result of a failed item is {error: {reason, message}}. Default: Fail.',
    };
  if (group === undefined) return field;
  return {
    ...field,
    help: 'What happens when a node in the group fails. Fail: the run fails, unless a connection from the group runs when it fails; Continue: the run goes on after the group, and .error of the group says why. Default: Fail.',
  };
}

/** The fields of a kind. Test data has its own tab. */
export function kindFields(kind: NodeKind): Field[] {
  const schema = schemas.triggers[kind] ?? schemas.steps[kind];
  if (schema === undefined) return [];
  return fieldsOf(schema, { path: kind, without: ['testData'] });
}

/** The members of a kind of which exactly one must be given. */
export function kindAlternatives(kind: NodeKind): string[] {
  const schema = schemas.steps[kind];
  return schema === undefined ? [] : alternativesOf(schema);
}

/** The fields of `forEach` or `repeat`. */
export function loopFields(loop: (typeof LOOPS)[number], id: string): Field[] {
  return fieldsOf(schemas.stepOptions[loop] ?? {}, { path: `options.${loop}` }).map((field) => ({
    ...field,
    ...(field.help && { help: field.help.replace('`nodes.<own ID>`', `nodes.${id}`) }),
    ...(field.name === 'items' && { placeholder: "{{ $('trigger').data_content.items }}" }),
    ...(field.name === 'until' && { placeholder: `nodes.${id}.data_content.state == 'done'` }),
  }));
}

/** The skill of a node; undefined if this version does not have it. */
export function skillOf(node: WorkflowNode): SkillSchema | undefined {
  return schemas.skills.find(({ name }) => name === node.skill?.name);
}

/** Skill and credential. A skill without credentials has no field for one, unless one is set. */
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

/** The parameters of a skill. Each may hold references. */
export function parameterFields(skill: SkillSchema): Field[] {
  return fieldsOf(skill.parameters, { path: skill.name, isExpression: true });
}

/** `path`: that within the node, such as `skill.parameters.to`. */
export type FilledField = { field: Field; path: string; value: unknown };

const filled = (fields: Field[], within: string, values: unknown): FilledField[] =>
  fields.map((field) => ({ field, path: `${within}.${field.name}`, value: valuesOf(values)[field.name] }));

/** The fields of a node's kind, its loop and, for a skill, its parameters, each with its value. */
export function filledFields(node: WorkflowNode): FilledField[] {
  const ofLoops = LOOPS.flatMap((loop) =>
    node[loop] === undefined ? [] : filled(loopFields(loop, node.id), loop, node[loop]),
  );
  return [...filledKind(node), ...ofLoops];
}

function filledKind(node: WorkflowNode): FilledField[] {
  const kind = nodeKind(node);
  if (kind === undefined) return [];
  if (kind !== 'skill') return filled(kindFields(kind), kind, node[kind]);
  const skill = skillOf(node);
  return [
    ...filled(skillFields(skill, node.skill?.credential !== undefined), 'skill', node.skill),
    ...filled(skill === undefined ? [] : parameterFields(skill), 'skill.parameters', node.skill?.parameters),
  ];
}
