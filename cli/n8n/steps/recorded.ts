/** Which parameters of a node its conversion reads. */
import { type Json, isFilled } from '../model/json.ts';

export type Recorded = {
  parameters: Json;
  /** The paths of parameters that have a value, and that nothing read. Collections are followed one level. */
  unread: () => string[];
};

/**
 * Parameters that change nothing here: how the editor shows a node, what only says how another parameter is
 * given, types of columns, advertising, and what another parameter switches off.
 */
const MEANINGLESS = new RegExp(
  `^(?:${[
    'resource|operation|authentication|jsonParameters|simple|version|hasOutputParser|looseTypeValidation',
    'toolDescription|descriptionType|requestOptions|promptType|source|mode|select|notice\\w*|\\w*Notice',
    'columns\\.(?:schema|matchingColumns|attemptToConvertTypes|convertFieldsToString|mappingMode|value|ignoreTypeMismatchErrors)',
    '(?:specify|send|json|parameters)(?:Body|Query|Headers)|(?:body|header|query)Parameters|placeholderDefinitions',
    'inputSource|jsonExample|triggerOn|multipleMethods|httpMethod|combineFilters|numberInputs|chunkingMode|fromEmail|advanced|dataToSend|schemaType|driveId|messageType',
    '\\w+\\.(?:appendAttribution|includeLinkToWorkflow|disable_web_page_preview|includeBinary|enableAutoFixing|fallback|renameFallbackOutput|looseTypeValidation|passthroughBinaryImages|returnFirstMatch|returnAllMatches)',
    'options\\.(?:binaryPropertyName|useAppend|batching|response|version|dotNotation)',
  ].join('|')})$`,
);

/** The parameters as a view that remembers what is read of them. */
export function recordReads(parameters: Json): Recorded {
  const read = new Set<string>();
  const view = (json: Json, path: string): Json =>
    new Proxy(json, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof name !== 'string') return value;
        const own = path === '' ? name : `${path}.${name}`;
        read.add(own);
        const isCollection =
          path === '' && typeof value === 'object' && value !== null && !Array.isArray(value);
        return isCollection ? view(value as Json, own) : value;
      },
    });
  const unread = () =>
    Object.entries(parameters).flatMap(([name, value]) => {
      if (isEmpty(value)) return [];
      if (MEANINGLESS.test(name)) return [];
      if (!read.has(name)) return given(name, value);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
      return Object.entries(value).flatMap(([inner, each]) =>
        isEmpty(each) || read.has(`${name}.${inner}`) || MEANINGLESS.test(`${name}.${inner}`)
          ? []
          : [`${name}.${inner}`],
      );
    });
  return { parameters: view(parameters, ''), unread };
}

/** A collection that nothing read counts by its members. */
function given(name: string, value: unknown): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [name];
  return Object.entries(value).flatMap(([inner, each]) =>
    isEmpty(each) || MEANINGLESS.test(`${name}.${inner}`) ? [] : [`${name}.${inner}`],
  );
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  (typeof value === 'object' && !isFilled(value));
