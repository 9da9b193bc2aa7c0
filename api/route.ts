/** The WebhookRoute kind: what the gateway serves of one workflow. Written by the operator, read by the gateway. */
import * as z from 'zod';
import { rateLimit, TRIGGER_KINDS } from './trigger.ts';
import { objectName } from './value.ts';

export const routeSpec = z
  .object({
    workflow: objectName('Name of the workflow.'),
    workflowUID: z
      .string()
      .max(64)
      .describe("The workflow's uid: a workflow made again under the same name inherits nothing."),
    projectUID: z.string().max(64).describe("The namespace's uid, which names the project in the run store."),
    revision: z.string().max(253).describe('The revision that new runs execute.'),
    trigger: z.enum(TRIGGER_KINDS as [string, ...string[]]).describe('The kind of the trigger.'),
    active: z
      .boolean()
      .describe(
        'Whether events start runs. Execute calls of an inactive workflow are refused, but for test runs.',
      ),
    webhook: z
      .object({
        path: z.string().max(128).describe('Last segment of the URL.'),
        reply: z
          .boolean()
          .describe('Whether a response node defines the answer, so that the caller waits for it.'),
        replyTimeoutSeconds: z.int().min(1).max(300).describe('How long the caller waits for it.'),
        headers: z
          .array(z.string().max(128))
          .max(32)
          .optional()
          .describe('Request headers that nodes may read, in lower case.'),
        dedupeHeader: z
          .string()
          .max(128)
          .optional()
          .describe('The request header whose value names the event, in lower case.'),
        rateLimit: rateLimit
          .optional()
          .describe('How many requests each replica takes. Left out: what the installation says.'),
      })
      .optional()
      .describe('The public URL, while the workflow is active and has one.'),
  })
  .describe('What is served.');

export const routeStatus = z.object({}).describe('Empty: replicas say in their Leases what they serve.');

export type RouteSpec = z.infer<typeof routeSpec>;
