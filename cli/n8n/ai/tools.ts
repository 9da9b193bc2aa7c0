/** Tools of agents: each node that an agent can call becomes a workflow that the agent runs. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import { adviceFor } from '../report/advice.ts';
import { isExpression } from '../expressions/expression.ts';
import { type Json, listOf, memberOf, objectOf, textOf } from '../model/json.ts';
import { type N8nNode, shortType } from '../model/n8n.ts';
import type { NodeContext } from '../steps/context.ts';
import { toReferences, valueOf } from '../expressions/value.ts';

type Tool = NonNullable<NonNullable<WorkflowNode['agent']>['tools']>[number];

const MAX_TOOLS = 32;

/** The tools of the node. Names are unique, and as models accept them. */
export function toolsOf(context: NodeContext): Tool[] {
  const names = new Set<string>();
  return context
    .children('ai_tool')
    .filter(({ isDisabled }) => !isDisabled)
    .slice(0, MAX_TOOLS)
    .flatMap((node): Tool[] => {
      const tool = toolOf(context, node);
      if (!tool) return [];
      const base =
        textOf(tool.name ?? node.name)
          .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
          .slice(0, 56) || 'tool';
      let name = base;
      for (let count = 2; names.has(name); count += 1) name = `${base}_${count}`;
      names.add(name);
      return [{ ...tool, name }];
    });
}

const describe = (text: string): Pick<Tool, 'description'> => {
  const description = text.replace(/^=/, '').slice(0, 1024);
  return description === '' ? {} : { description };
};

function toolOf(context: NodeContext, node: N8nNode): Tool | undefined {
  const type = shortType(node.type);
  const { parameters } = node;
  const description = textOf(
    parameters['description'] ?? parameters['toolDescription'],
    `Runs ${node.name}.`,
  );
  if (type === 'toolWorkflow') return workflowTool(context, node, description);
  const inner = innerNode(node);
  if (!inner) {
    context.note(
      'manual',
      `the agent is without this tool, which has no counterpart: ${adviceFor(node.type)}`,
      node,
    );
    return undefined;
  }
  const workflow = context.addTool(node, inner.node, inner.fields);
  return {
    workflow,
    name: textOf(parameters['name']) || node.name,
    ...describe(inner.description ?? description),
  };
}

function workflowTool(context: NodeContext, node: N8nNode, description: string): Tool {
  const { parameters } = node;
  const raw = parameters['workflowId'];
  const id = textOf(memberOf(raw, 'value') ?? raw);
  const name = textOf(memberOf(raw, 'cachedResultName')) || node.name;
  if (parameters['source'] === 'parameter')
    context.note(
      'manual',
      'a sub-workflow inside of the parameters is not imported: import it as a file',
      node,
    );
  return {
    workflow: context.workflowName(id, name),
    name: textOf(parameters['name']) || node.name,
    ...describe(description),
    ...fixedInputs(context, parameters),
  };
}

/** Members of the input that the model does not set. */
function fixedInputs(context: NodeContext, parameters: Json): Pick<Tool, 'parameters'> {
  const old = listOf(memberOf(parameters, 'fields.values')).map((each): [string, unknown] => {
    const { name, stringValue, numberValue, booleanValue } = objectOf(each);
    return [textOf(name), stringValue ?? numberValue ?? booleanValue];
  });
  const mapped = Object.entries(objectOf(memberOf(parameters, 'workflowInputs.value')));
  const fixed = [...old, ...mapped].flatMap(([name, raw]): [string, unknown][] => {
    if (name === '' || (isExpression(raw) && raw.includes('$fromAI'))) return [];
    const { input } = context;
    const value = toReferences(valueOf(raw), ({ node, path }) =>
      node === undefined ? input.single?.(path) : context.find(node)?.single?.(path),
    );
    return value ? [[name, value.value]] : [];
  });
  return fixed.length === 0 ? {} : { parameters: Object.fromEntries(fixed) };
}

type Inner = { node: N8nNode; fields: Json; description?: string };

const property = (type: string, description: string): Json => ({
  type,
  ...(description !== '' && { description: description.slice(0, 1024) }),
});

/** The node that the workflow of a tool executes, and the properties of its input. */
function innerNode(node: N8nNode): Inner | undefined {
  const type = shortType(node.type);
  const { parameters } = node;
  switch (type) {
    case 'toolCode': {
      const source = textOf(parameters['jsCode']);
      const jsCode = `const query = $input.first().json.query ?? $input.first().json;\nconst answer = await (async () => {\n${source}\n})();\nreturn [{ json: { response: answer } }];`;
      return source === ''
        ? undefined
        : {
            node: { ...node, type: 'n8n-nodes-base.code', version: 2, parameters: { jsCode } },
            fields: { query: property('string', 'The input of the tool.') },
          };
    }
    case 'toolCalculator': {
      const jsCode = `const { expression } = $input.first().json;\nif (!/^[\\d\\s+*/%().,eE^-]+$/.test(expression)) throw new Error('write digits and operators alone');\nreturn [{ json: { result: Number(new Function('return ' + expression.replaceAll('^', '**'))()) } }];`;
      return {
        node: { ...node, type: 'n8n-nodes-base.code', version: 2, parameters: { jsCode } },
        fields: { expression: property('string', 'An arithmetic expression, such as 2 * (3 + 4).') },
        description: 'Computes arithmetic expressions.',
      };
    }
    case 'toolWikipedia':
      return {
        node: requestNode(node, 'https://en.wikipedia.org/w/api.php', {
          action: 'query',
          list: 'search',
          format: 'json',
          srlimit: '3',
          srsearch: '={{ $json.query }}',
        }),
        fields: { query: property('string', 'What to search for.') },
        description: 'Searches Wikipedia.',
      };
    case 'toolSerpApi':
      return {
        node: {
          ...requestNode(node, 'https://serpapi.com/search.json', {
            engine: 'google',
            q: '={{ $json.query }}',
          }),
          parameters: {
            ...requestNode(node, 'https://serpapi.com/search.json', {
              engine: 'google',
              q: '={{ $json.query }}',
            }).parameters,
            authentication: 'predefinedCredentialType',
            nodeCredentialType: 'serpApi',
          },
        },
        fields: { query: property('string', 'What to search for.') },
        description: 'Searches the web with Google.',
      };
    case 'toolHttpRequest':
      return requestTool(node);
    default:
      return type.endsWith('Tool') && type !== 'mcpClientTool' && type !== 'agentTool'
        ? nodeTool(node)
        : undefined;
  }
}

const requestNode = (node: N8nNode, url: string, query: Record<string, string>): N8nNode => ({
  ...node,
  type: 'n8n-nodes-base.httpRequest',
  version: 4.2,
  parameters: {
    url,
    sendQuery: true,
    queryParameters: { parameters: Object.entries(query).map(([name, value]) => ({ name, value })) },
  },
});

/** Placeholders such as `{city}` of a tool that sends requests. */
function requestTool(node: N8nNode): Inner {
  const { parameters } = node;
  const fields: Json = {};
  const described = new Map(
    listOf(memberOf(parameters, 'placeholderDefinitions.values')).map((each) => [
      textOf(memberOf(each, 'name')),
      each,
    ]),
  );
  const field = (name: string) => {
    const given = described.get(name);
    const type = textOf(memberOf(given, 'type'));
    fields[name] = property(
      ['number', 'boolean'].includes(type) ? type : 'string',
      textOf(memberOf(given, 'description')),
    );
    return `{{ $json[${JSON.stringify(name)}] }}`;
  };
  const filled = (text: unknown) => {
    const plain = textOf(text);
    const replaced = plain
      .replace(/^=/, '')
      .replaceAll(/(?<!\{)\{\s*([A-Za-z_][\w-]*)\s*\}(?!\})/g, (_all, name: string) => field(name));
    return replaced === plain ? plain : `=${replaced}`;
  };
  const values = (list: unknown) =>
    listOf(list).map((each) => {
      const { name, value, valueProvider } = objectOf(each);
      const isModel = textOf(valueProvider, 'modelRequired').startsWith('model');
      return { name: textOf(name), value: isModel ? `=${field(textOf(name))}` : filled(value) };
    });
  const part = (kind: 'Query' | 'Headers' | 'Body', lower: string, json: string) => ({
    [`send${kind}`]: parameters[`send${kind}`] === true,
    [`specify${kind}`]: parameters[`specify${kind}`] === 'json' ? 'json' : 'keypair',
    ...(parameters[json] !== undefined && { [json]: filled(parameters[json]) }),
    [`${lower}Parameters`]: { parameters: values(memberOf(parameters, `parameters${kind}.values`)) },
  });
  const inner = {
    ...parameters,
    method: textOf(parameters['method'], 'GET'),
    url: filled(parameters['url']),
    ...part('Query', 'query', 'jsonQuery'),
    ...part('Headers', 'header', 'jsonHeaders'),
    ...part('Body', 'body', 'jsonBody'),
  };
  return { node: { ...node, type: 'n8n-nodes-base.httpRequest', version: 4.2, parameters: inner }, fields };
}

const FROM_AI =
  /\$fromAI\(\s*(['"`])(.*?)\1\s*(?:,\s*(['"`])([\s\S]*?)\3)?\s*(?:,\s*(['"`])(.*?)\5)?[^()]*\)/gi;

/** A node of another service as a tool: the values of `$fromAI` are its input. */
function nodeTool(node: N8nNode): Inner {
  const fields: Json = {};
  const replaced = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string')
      return value.replaceAll(FROM_AI, (_all, ...groups: string[]) => {
        const [, name = '', , description = '', , type = ''] = groups;
        fields[name] = property(['number', 'boolean'].includes(type) ? type : 'string', description);
        return `$json[${JSON.stringify(name)}]`;
      });
    if (depth > 32) return value;
    if (Array.isArray(value)) return value.map((each) => replaced(each, depth + 1));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaced(each, depth + 1)]));
  };
  const parameters = objectOf(replaced(node.parameters, 0));
  const type = node.type.replace(/^@n8n\/n8n-nodes-langchain\./, 'n8n-nodes-base.').replace(/Tool$/, '');
  return { node: { ...node, type, parameters }, fields };
}
