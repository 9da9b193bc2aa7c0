/**
 * Members of an answer that a later request repeats as they came: what a server added to each tool call, such
 * as Gemini's signatures, and reasoning that some models require back with their tool calls.
 */
import * as z from 'zod';

const rawSchema = z.object({
  openai: z.object({
    /** By the position of the tool call in the message. */
    extraContent: z.record(z.string(), z.unknown()).optional(),
    reasoning: z.string().optional(),
  }),
});

export type OpenaiRaw = z.infer<typeof rawSchema>['openai'];

/** What this provider kept; undefined for a message without such. */
export function rawMembers(raw: unknown): OpenaiRaw | undefined {
  return rawSchema.safeParse(raw).data?.openai;
}
