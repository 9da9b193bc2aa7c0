/** Which drafts nobody needs any more, by their metadata alone. Pure. */
import * as z from 'zod';

const DAY_MS = 86_400_000;
/** Without a workflow of its name. */
const ORPHANED_MS = 14 * DAY_MS;
const UNTOUCHED_MS = 90 * DAY_MS;

const draftMetadata = z.object({
  name: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
  creationTimestamp: z.string(),
  deletionTimestamp: z.string().optional(),
  managedFields: z.array(z.object({ time: z.string().optional() })).optional(),
});

const items = z.array(z.object({ metadata: draftMetadata }));

/** A list as PartialObjectMetadata. The API server writes an empty one as null. */
export const draftList = z.object({ items: items.nullable().transform((found) => found ?? []) });

export type DraftMetadata = z.infer<typeof draftMetadata>;

/** The drafts that nobody has changed for 90 days, or for 14 days where `hasWorkflow` says no. */
export function expiredDrafts(
  drafts: readonly DraftMetadata[],
  hasWorkflow: (name: string) => boolean,
  now: Date,
): DraftMetadata[] {
  return drafts.filter((draft) => {
    const kept = hasWorkflow(draft.name) ? UNTOUCHED_MS : ORPHANED_MS;
    return draft.deletionTimestamp === undefined && now.getTime() - changedAt(draft) >= kept;
  });
}

/** When somebody changed it last. */
function changedAt({ creationTimestamp, managedFields = [] }: DraftMetadata): number {
  const times = managedFields.flatMap(({ time }) => (time === undefined ? [] : [Date.parse(time)]));
  return Math.max(Date.parse(creationTimestamp), ...times);
}
