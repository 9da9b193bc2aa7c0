/** The description of an operation: path, method, parameters, answers, and who may call it. */
import type * as z from 'zod';
import type { ProblemCode } from './problems.ts';

/** What RBAC must allow the caller. */
export type Right = {
  verb: 'create' | 'get' | 'list' | 'update' | 'delete' | 'use';
  resource: 'workflows' | 'workflowruns' | 'credentials';
  subresource?: 'execute';
  /** Whose name the path has; `namespace`: the right covers all objects of the namespace. */
  on: 'workflow' | 'run' | 'credential' | 'namespace';
};

export type Answer = {
  description: string;
  /** By media type; `undefined` for a body without a schema. */
  content?: Record<string, z.ZodType | undefined>;
  /** Headers that each such answer has. */
  headers?: Record<string, string>;
  /** Operations that take the run of the answer's body. */
  links?: readonly string[];
};

export type Operation = {
  listener: 'public' | 'internal';
  method: 'GET' | 'POST' | 'DELETE';
  /** With parameters in braces. */
  path: string;
  summary: string;
  description?: string;
  /** Left out: callers need no token. */
  right?: Right;
  /** Any token that the cluster accepts is enough. */
  anyToken?: true;
  query?: z.ZodObject;
  headers?: z.ZodObject;
  /** The JSON body. */
  body?: { schema: z.ZodType; required: boolean };
  /** By status: every answer that is not a problem. */
  answers: Record<number | 'default', Answer> | Record<number, Answer>;
  /** Problems of this operation, in addition to those of any request. */
  problems: readonly ProblemCode[];
};

/** The path in the router's syntax. */
export function routePath({ path }: Pick<Operation, 'path'>): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
