/**
 * The OpenAPI 3.1 document of all operations. It is generated from the schemas that validate requests and
 * from the registers of operations and problems, and holds nothing of an installation or a project.
 */
import * as z from 'zod';
import {
  acceptedRun,
  callbackTokenText,
  chatIdText,
  runEvent,
  runName,
  runPage,
  runView,
  namespaceText,
  workflowIdText,
} from '../../api/runView.ts';
import { connectLink, credentialText, linkText } from '../../api/connect.ts';
import { memoryKey, memoryName, memoryPage, memoryView } from '../../api/memory.ts';
import { signInLink } from '../../api/console.ts';
import { projectUsage } from '../../api/usage.ts';
import { webhookPath } from '../../api/trigger.ts';
import {
  PROBLEM_TYPE,
  problemOf,
  problemSchema,
  problemType,
  PROBLEMS_OF_ANY,
  type ProblemCode,
} from './problems.ts';
import type { Answer, Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';

type Json = Record<string, unknown>;

/** Schemas that several answers share. */
const SHARED = {
  Run: runView,
  RunPage: runPage,
  MemoryPage: memoryPage,
  Memory: memoryView,
  RunEvent: runEvent,
  AcceptedRun: acceptedRun,
  ProjectUsage: projectUsage,
  ConnectLink: connectLink,
  SignInLink: signInLink,
  Problem: problemSchema,
};

const PATH_PARAMETERS: Record<string, { schema: z.ZodType; example: string }> = {
  id: { schema: workflowIdText, example: 'shop.orders' },
  namespace: { schema: namespaceText, example: 'shop' },
  path: { schema: webhookPath, example: 'new' },
  run: { schema: runName, example: 'orders-4f7k2m' },
  name: { schema: memoryName, example: 'agent' },
  key: { schema: memoryKey, example: '4711' },
  credential: { schema: credentialText, example: 'shop.mailbox' },
  chat: { schema: chatIdText, example: '0123456789abcdef0123456789abcdef' },
  token: {
    schema: callbackTokenText,
    example: 'wlc.2f1c.k1.WyJvcmRlcnMiXQ.0nAwzvpD8pJ8kP1sW5b0QcRlp4kEpXu1d1oSfLtGJnJ',
  },
  link: { schema: linkText, example: 'cRlp4kEpXu1d1oSfLtGJnJ0nAwzvpD8pJ8kP1sW5b0Q' },
};

/** Statuses with a `Retry-After` header. */
const LATER = new Set([429, 503]);

export function openApiDocument(): Json {
  const paths: Record<string, Json> = {};
  for (const [id, operation] of Object.entries<Operation>(OPERATIONS)) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(id, operation) };
  }
  const schemas = Object.entries(SHARED).map(([name, schema]) => [name, jsonSchema(schema)]);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Windlass gateway',
      version: 'v1alpha1',
      description:
        'The HTTP API of the gateway. Operations with the tag "public" are on the public listener, which an Ingress exposes; all others on the internal one.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: [
      { name: 'public', description: 'For everyone, as the workflow defines.' },
      { name: 'internal', description: 'For callers with a token of the cluster, and for probes.' },
    ],
    paths,
    components: {
      schemas: Object.fromEntries(schemas) as Json,
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A token that the cluster accepts, preferably for the audience "windlass". RBAC decides what it may do.',
        },
      },
    },
  };
}

function operationObject(id: string, operation: Operation): Json {
  const { listener, summary, description, right, anyToken, body } = operation;
  const scope = right && `${right.verb} ${right.resource}${right.subresource ? `/${right.subresource}` : ''}`;
  return {
    operationId: id,
    tags: [listener],
    summary,
    description: [description, scope && `RBAC must allow: ${scope} (group windlass.dev).`]
      .filter(Boolean)
      .join(' '),
    security: right || anyToken ? [{ token: [] }] : [],
    parameters: parameters(operation),
    ...(body && {
      requestBody: {
        required: body.required,
        content: { 'application/json': { schema: jsonSchema(body.schema) } },
      },
    }),
    responses: responses(operation),
  };
}

function parameters({ path, query, headers }: Operation): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const parameter = PATH_PARAMETERS[name];
    if (parameter === undefined) throw new Error(`path parameter ${name} has no schema`);
    return { ...parameterObject('path', name, parameter.schema), example: parameter.example };
  });
  const of = (place: string, object: z.ZodObject | undefined) =>
    Object.entries(object?.shape ?? {}).map(([name, schema]) =>
      parameterObject(place, name, schema as z.ZodType),
    );
  return [...inPath, ...of('query', query), ...of('header', headers)];
}

function parameterObject(place: string, name: string, schema: z.ZodType): Json {
  const { description, ...rest } = jsonSchema(schema);
  return { name, in: place, description, required: !schema.safeParse(undefined).success, schema: rest };
}

function responses({ answers, problems }: Operation): Json {
  const out: Record<string, Json> = {};
  for (const [status, answer] of Object.entries<Answer>(answers)) out[status] = answerObject(answer);
  for (const [status, codes] of byStatus([...problems, ...PROBLEMS_OF_ANY])) {
    out[status] = withProblems(out[status], Number(status), codes);
  }
  return out;
}

function answerObject({ description, content, headers, links }: Answer): Json {
  const bodies = Object.entries(content ?? {}).map(([type, schema]) => [
    type,
    schema ? { schema: reference(schema) } : {},
  ]);
  return {
    description,
    ...(headers && { headers: headerObjects(headers) }),
    ...(content && { content: Object.fromEntries(bodies) as Json }),
    ...(links && { links: Object.fromEntries(links.map((id) => [id, linkObject(id)])) }),
  };
}

function headerObjects(headers: Record<string, string>): Json {
  const objects = Object.entries(headers).map(([name, description]) => [
    name,
    { description, required: true, schema: { type: 'string' } },
  ]);
  return Object.fromEntries(objects) as Json;
}

function linkObject(operationId: string): Json {
  return { operationId, parameters: { id: '$request.path.id', run: '$response.body#/run' } };
}

function byStatus(codes: ProblemCode[]): Map<string, ProblemCode[]> {
  return Map.groupBy(new Set(codes), (code) => String(problemOf(code).status));
}

/** All problems of one status form one response, next to any other content of that status. */
function withProblems(answer: Json | undefined, status: number, codes: ProblemCode[]): Json {
  const told = codes.map((code) => `\`${code}\`: ${problemOf(code).title}.`);
  const schema = {
    allOf: [{ $ref: '#/components/schemas/Problem' }],
    properties: { type: { enum: codes.map(problemType) }, status: { const: status } },
  };
  const headers = {
    ...(LATER.has(status) && answer === undefined && { 'Retry-After': 'Seconds until a retry.' }),
    ...(status === 405 && { Allow: 'The methods of this URL.' }),
    ...(status === 401 &&
      codes.includes('unauthorized') && { 'WWW-Authenticate': 'The authentication scheme.' }),
  };
  return {
    description: [answer?.description, ...told].filter(Boolean).join(' '),
    ...(Object.keys(headers).length > 0 && { headers: headerObjects(headers) }),
    content: { ...(answer?.content as Json | undefined), [PROBLEM_TYPE]: { schema } },
  };
}

function reference(schema: z.ZodType): Json {
  const name = Object.entries(SHARED).find(([, shared]) => shared === schema)?.[0];
  return name === undefined ? jsonSchema(schema) : { $ref: `#/components/schemas/${name}` };
}

/** Drops what only CRDs need and what carries no information. */
function jsonSchema(schema: z.ZodType): Json {
  const { $schema: _dialect, ...out } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema: part }) => {
      for (const name of Object.keys(part)) {
        if (name.startsWith('x-') || name === 'nullable') delete part[name];
      }
      if (part.format === 'date-time') delete part.pattern;
      if (part.maximum === Number.MAX_SAFE_INTEGER) delete part.maximum;
    },
  });
  return out;
}
