/**
 * The type of `windlass:schemas`: JSON Schemas (draft 2020-12) that are built from the zod schemas of the
 * CRDs.
 */

import type { DurationBounds } from '../../api/duration.ts';

/** The part of JSON Schema that zod generates for our schemas. */
export type FieldSchema = {
  type?: string | string[];
  description?: string;
  properties?: Record<string, FieldSchema>;
  required?: string[];
  items?: FieldSchema;
  additionalProperties?: FieldSchema | boolean;
  enum?: (string | number | boolean)[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  format?: string;
  anyOf?: FieldSchema[];
  /** Accepts any JSON value. */
  'x-windlass-free'?: boolean;
  /** A duration within these bounds. */
  'x-windlass-duration'?: DurationBounds;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-validations'?: { rule: string; message: string }[];
};

export type SkillSchema = {
  name: string;
  description: string;
  /** The accepted kinds of credentials; empty: none. */
  credentials: string[];
  credentialIsOptional: boolean;
  /** What happens to the effect after a crash. */
  effect: string;
  parameters: FieldSchema;
  /** The content of `data_content`. */
  output?: FieldSchema;
};

export type Schemas = {
  /** By kind: manual, schedule, webhook, mail, … */
  triggers: Record<string, FieldSchema>;
  /** By kind: agent, skill, response. */
  steps: Record<string, FieldSchema>;
  /** Options of triggers and steps: sensitive. */
  nodeOptions: Record<string, FieldSchema>;
  /** Options of steps: retry, timeout, onError, forEach, effect. */
  stepOptions: Record<string, FieldSchema>;
  /** The fields of a workflow beside nodes and edges: displayName, history, timeout, concurrency, … */
  workflow: FieldSchema;
  skills: SkillSchema[];
  /** By kind: smtp, imap, openai, anthropic, oauth2, bot, http, s3. */
  credentials: Record<string, FieldSchema>;
  /** The fields of the spec of a run. */
  runFields: string[];
};
