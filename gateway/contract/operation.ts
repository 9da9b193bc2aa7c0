/** What is said of one operation of the gateway: where it is, what it takes, what it answers and whom it admits. */
import type * as z from 'zod';
import type { ProblemCode } from './problems.ts';

/** What RBAC must allow the caller. */
export type Right = {
  verb: 'create' | 'get' | 'list' | 'update' | 'delete';
  resource: 'workflows' | 'workflowruns' | 'credentials';
  subresource?: 'execute';
  /** Whose name the path has; `namespace`: the right covers all objects of the namespace. */
  on: 'workflow' | 'run' | 'credential' | 'namespace';
};

export type Answer = {
  description: string;
  /** By media type; `undefined` where the body has no schema. */
  content?: Record<string, z.ZodType | undefined>;
  /** Headers that each such answer has. */
  headers?: Record<string, string>;
  /** The operations that take the run of the answer's body. */
  links?: readonly string[];
};

export type Operation = {
  listener: 'public' | 'internal';
  method: 'GET' | 'POST' | 'DELETE';
  /** With the parameters in braces. */
  path: string;
  summary: string;
  description?: string;
  /** Left out: who has no token may call. */
  right?: Right;
  /** A token that the cluster accepts is enough, whatever it may do. */
  anyToken?: true;
  query?: z.ZodObject;
  headers?: z.ZodObject;
  /** What the JSON body must be. */
  body?: { schema: z.ZodType; required: boolean };
  /** By status: all answers that are no problems. */
  answers: Record<number | 'default', Answer> | Record<number, Answer>;
  /** Those that come of this operation, beside those that any request may have. */
  problems: readonly ProblemCode[];
};

/** The path as the router takes it. */
export function routePath({ path }: Pick<Operation, 'path'>): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
