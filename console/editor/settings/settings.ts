/** The settings of a workflow as fields of a form, in groups, and their values in a spec. Pure. */
import { parseDuration } from '../../../api/duration.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { DocPlace } from '../../docs/doc.ts';
import { SETTING_DOCS } from '../../docs/links.ts';
import { fieldsOf, type Field } from '../../forms/fields.ts';
import type { FieldSchema } from '../../forms/schemas.ts';
import {
  isNothing,
  scalarText,
  valuesOf,
  withMember,
  type FieldProblem,
  type Values,
} from '../../forms/values.ts';
import { capitalized } from '../../ui/format.ts';
import type { Settings } from '../model/model.ts';
import type { Problem } from '../model/problems.ts';
import { SETTING_GROUPS } from '../model/settings.ts';

export type SettingGroup = { title: string; doc: DocPlace; fields: Field[] };

/** The groups of the form. The name of a field is the path of its setting, such as `history.ttl`. */
export function settingGroups(schema: FieldSchema): SettingGroup[] {
  const fields = new Map(
    leavesOf(fieldsOf(schema, { path: 'settings' }), '').map((field) => [field.name, field]),
  );
  return SETTING_GROUPS.map(({ title, settings }) => ({
    title,
    doc: SETTING_DOCS[title],
    fields: settings.flatMap((setting) => fields.get(setting) ?? []),
  }));
}

/** Every setting of the schema, also those in objects. All may be left out. */
function leavesOf(fields: readonly Field[], prefix: string): Field[] {
  return fields.flatMap((field) => {
    const name = `${prefix}${field.name}`;
    if (field.editor.kind === 'object') return leavesOf(field.editor.fields, `${name}.`);
    return [{ ...field, name, isRequired: false }];
  });
}

/** What the help of a setting says of its default, where a project can have another one. */
const UNLESS = /Default: (.+?), unless the settings of the project say otherwise\./;

/** The groups with the defaults of the project, as its settings say them. */
export function withDefaults(groups: readonly SettingGroup[], defaults: Values): SettingGroup[] {
  return groups.map((group) => ({
    ...group,
    fields: group.fields.map((field) => withDefault(field, defaults)),
  }));
}

function withDefault(field: Field, defaults: Values): Field {
  const { help = '', name } = field;
  if (!UNLESS.test(help)) return field;
  const own = valueAt(defaults, name);
  if (own === undefined) return { ...field, help: help.replace(UNLESS, 'Default: $1.') };
  const placeholder = scalarText(own);
  const said = `Default in this project: ${placeholder}.`;
  // A replacement that is a text would replace $& and the like in the value.
  return { ...field, placeholder, help: help.replace(UNLESS, () => said) };
}

/** The values of these settings in a spec. */
export function settingValues(spec: WorkflowSpec, fields: readonly Field[]): Values {
  return Object.fromEntries(
    fields.flatMap(({ name }) => {
      const value = valueAt(spec, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function valueAt(spec: object, setting: string): unknown {
  return setting.split('.').reduce<unknown>((value, name) => valuesOf(value)[name], spec);
}

/**
 * The change of the spec that gives a setting this value; empty: removes it, and objects that are empty
 * then. What else the objects around it hold stays.
 */
export function settingChange(spec: WorkflowSpec, setting: string, value: unknown): Settings {
  const [top = '', ...inner] = setting.split('.');
  return { [top]: changed((spec as Values)[top], inner, value) };
}

function changed(before: unknown, [name, ...inner]: readonly string[], value: unknown): unknown {
  const members = valuesOf(before);
  const next = name === undefined ? value : withMember(members, name, changed(members[name], inner, value));
  return isNothing(next) ? undefined : next;
}

/** Where a problem of an object is shown, if not at its first setting. */
const AT: Readonly<Record<string, string>> = { history: 'history.dataTTL' };

/** The setting of the form for a place in the spec, such as `history`; undefined: none. */
export function settingOf(place: string, groups: readonly SettingGroup[]): string | undefined {
  const names = groups.flatMap(({ fields }) => fields.map(({ name }) => name));
  const wanted = AT[place] ?? place;
  return names.find(
    (name) => name === wanted || wanted.startsWith(`${name}.`) || name.startsWith(`${wanted}.`),
  );
}

/** The problems of settings: those that the form finds by itself, and the reported ones of other settings. */
export function settingProblems(
  spec: WorkflowSpec,
  reported: readonly Problem[],
  groups: readonly SettingGroup[],
): FieldProblem[] {
  const own = ownProblems(spec);
  const others = reported.flatMap(({ field, message }): FieldProblem[] => {
    const setting = field === '' ? undefined : settingOf(field, groups);
    const isTold = setting === undefined || own.some((problem) => problem.field === setting);
    return isTold ? [] : [{ field: setting, message: capitalized(message) }];
  });
  return [...own, ...others];
}

/** What the API server checks across settings, in the words of the form. */
function ownProblems({ history, concurrency, budget, nodes }: WorkflowSpec): FieldProblem[] {
  const isPublic = nodes.some(({ chat }) => chat?.access === 'Public');
  return [
    ...(isLonger(history?.dataTTL, history?.ttl)
      ? [{ field: 'history.dataTTL', message: 'Must not be longer than the run is kept.' }]
      : []),
    ...(concurrency?.policy !== undefined && concurrency.limit === undefined
      ? [{ field: 'concurrency.limit', message: 'Enter a limit, or clear what happens beyond it.' }]
      : []),
    ...(isPublic && budget?.day === undefined
      ? [
          {
            field: 'budget.day.tokens',
            message: 'A public chat needs a budget of a day: of tokens, cost or both.',
          },
        ]
      : []),
  ];
}

/** Whether one duration is longer than the other. Invalid ones, of any type in a draft, are not compared. */
function isLonger(one: unknown, other: unknown): boolean {
  if (typeof one !== 'string' || typeof other !== 'string') return false;
  try {
    return parseDuration(one) > parseDuration(other);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
