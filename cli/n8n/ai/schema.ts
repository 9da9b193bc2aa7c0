/** JSON Schemas for the answers of models: given, or derived from an example. */
import { outputSchemaProblem } from '../../../nodes/agent/structured.ts';
import { isExpression } from '../expressions/expression.ts';
import { type Json, listOf, memberOf, objectOf, textOf } from '../model/json.ts';
import type { N8nNode } from '../model/n8n.ts';
import type { NodeContext } from '../steps/context.ts';

const MAX_DEPTH = 8;

/** The schema of values such as the example. */
function schemaOf(example: unknown, depth = 0): Json {
  if (depth > MAX_DEPTH) return {};
  if (Array.isArray(example))
    return { type: 'array', ...(example.length > 0 && { items: schemaOf(example[0], depth + 1) }) };
  if (typeof example === 'object' && example !== null)
    return {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(example).map(([name, each]) => [name, schemaOf(each, depth + 1)]),
      ),
      required: Object.keys(example),
    };
  return example === null ? {} : { type: typeof example };
}

function parsed(raw: unknown): unknown {
  if (typeof raw !== 'string') return raw;
  try {
    return JSON.parse(raw.replace(/^=/, ''));
  } catch {
    return undefined;
  }
}

/** A schema that can be used, or undefined and a note. */
function usable(context: NodeContext, schema: unknown, of: N8nNode): Json | undefined {
  const json = objectOf(schema);
  if (Object.keys(json).length > 0 && outputSchemaProblem(json) === undefined) return json;
  context.note('review', 'its schema cannot be used: any JSON object is accepted', of);
  return { type: 'object' };
}

function schemaIn(context: NodeContext, node: N8nNode, example: string, manual: string): Json | undefined {
  const parameters = node === context.node ? context.parameters : node.parameters;
  const usesExample =
    textOf(parameters['schemaType'], parameters[manual] === undefined ? 'fromJson' : 'manual') === 'fromJson';
  const raw = usesExample ? parameters[example] : parameters[manual];
  const json = isExpression(raw) && raw.includes('{{') ? undefined : parsed(raw);
  return usable(context, usesExample && json !== undefined ? schemaOf(json) : json, node);
}

/** The schema of the node's output parser; undefined without one. */
export function parserSchema(context: NodeContext): Json | undefined {
  const [first] = context.children('ai_outputParser');
  if (!first) return undefined;
  if (first.type.endsWith('.outputParserItemList')) return { type: 'array', items: { type: 'string' } };
  if (first.type.endsWith('.outputParserAutofixing')) {
    const [inner] = context.children('ai_outputParser', first);
    for (const model of context.children('ai_languageModel', first))
      context.note('review', 'the model of the agent itself corrects answers that do not fit', model);
    return inner ? structured(context, inner) : usable(context, {}, first);
  }
  return structured(context, first);
}

function structured(context: NodeContext, node: N8nNode): Json | undefined {
  const { parameters } = node;
  if (parameters['jsonSchema'] !== undefined) return usable(context, parsed(parameters['jsonSchema']), node);
  return schemaIn(context, node, 'jsonSchemaExample', 'inputSchema');
}

/** The schema of what an Information Extractor reads out of a text. */
export function extractionSchema(context: NodeContext): Json | undefined {
  const { node, parameters } = context;
  if (textOf(parameters['schemaType'], 'fromAttributes') !== 'fromAttributes')
    return schemaIn(context, node, 'jsonSchemaExample', 'inputSchema');
  const attributes = listOf(memberOf(parameters, 'attributes.attributes')).map(objectOf);
  const types: Record<string, string> = { number: 'number', boolean: 'boolean' };
  return {
    type: 'object',
    properties: Object.fromEntries(
      attributes.map(({ name, type, description }) => [
        textOf(name),
        { type: types[textOf(type)] ?? 'string', description: textOf(description).replace(/^=/, '') },
      ]),
    ),
    required: attributes.filter(({ required }) => required === true).map(({ name }) => textOf(name)),
  };
}
