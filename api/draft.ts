/** The WorkflowDraft kind: what people edit of a workflow before they publish it. Nothing executes it. */
import * as z from 'zod';

/** The longest workflow, in characters. */
const WORKFLOW_CHARACTERS = 262_144;
/**
 * With 256 KiB of pins. The whole object stays below what etcd stores of one, 1.5 MiB, unless most of its
 * characters take several bytes: then etcd refuses it.
 */
const BODY_CHARACTERS = 2 * WORKFLOW_CHARACTERS;

const content = (description: string, most = WORKFLOW_CHARACTERS) =>
  z.string().max(most).describe(description);

export const draftSpec = z
  .object({
    base: z
      .object({
        uid: z
          .string()
          .min(1)
          .max(64)
          .describe('The UID of the workflow. A workflow with another UID never gets this draft.'),
        body: content(
          'What was published when the draft was begun, in the form of `body`. It tells changes of the draft from changes of others.',
        ),
      })
      .describe('The workflow that the draft changes.'),
    body: content(
      'The draft as JSON: `spec`, as that of a workflow but without `active` and `suspend`, `positions` of nodes, and `pins`, the outputs that test runs use in place of executing a node. It may be invalid as a workflow.',
      BODY_CHARACTERS,
    ),
    text: content(
      'YAML that cannot be read yet. Until somebody corrects or discards it, `body` is the last version that could be read.',
    ).optional(),
  })
  .describe('What was changed. Nothing executes it before it is published.');

export type DraftSpec = z.infer<typeof draftSpec>;
