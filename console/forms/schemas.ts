/** The shape of `windlass:schemas`: JSON Schemas (draft 2020-12) made at build time from the zod schemas that the CRDs come from. */

import type { DurationBounds } from '../../api/duration.ts';

/** As much of JSON Schema as zod writes for our schemas. */
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
  /** Any JSON value is taken. */
  'x-windlass-free'?: boolean;
  /** It is a duration within these bounds. */
  'x-windlass-duration'?: DurationBounds;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-validations'?: { rule: string; message: string }[];
};

export type SkillSchema = {
  name: string;
  description: string;
  /** Kinds of credentials that it takes; empty: none. */
  credentials: string[];
  credentialIsOptional: boolean;
  /** What happens to its effect after a crash. */
  effect: string;
  parameters: FieldSchema;
  /** What `data_content` of its output has. */
  output?: FieldSchema;
};

export type Schemas = {
  /** By kind: manual, schedule, webhook, mail, … */
  triggers: Record<string, FieldSchema>;
  /** By kind: agent, skill, response. */
  steps: Record<string, FieldSchema>;
  /** Options that triggers and steps take: sensitive. */
  nodeOptions: Record<string, FieldSchema>;
  /** Options that every step takes: retry, timeout, onError, forEach, effect. */
  stepOptions: Record<string, FieldSchema>;
  /** What a workflow has beside its nodes and edges: displayName, history, timeout, concurrency, … */
  workflow: FieldSchema;
  skills: SkillSchema[];
  /** By kind: smtp, imap, openai, oauth2, bot, http, s3. */
  credentials: Record<string, FieldSchema>;
};
