/** Images of earlier nodes for a model: attachments of mails, and downloaded files. */
import { isRecord } from '../../api/record.ts';
import { StepError } from '../../api/reasons.ts';
import type { ModelImage, ModelMessage } from '../contract/model.ts';

const MOST_IMAGES = 10;
/** Bytes of all images. In base64 they fit into the fields of a step. */
const MOST_BYTES = 384_000;

/** The first bytes of each type that models take. `at` skips a length. */
const TYPES = [
  { mediaType: 'image/png', starts: [0x89, 0x50, 0x4e, 0x47], at: 0 },
  { mediaType: 'image/jpeg', starts: [0xff, 0xd8, 0xff], at: 0 },
  { mediaType: 'image/gif', starts: [0x47, 0x49, 0x46, 0x38], at: 0 },
  // RIFF, the length of the file, WEBP
  { mediaType: 'image/webp', starts: [0x57, 0x45, 0x42, 0x50], at: 8 },
];
const TAKEN = 'PNG, JPEG, GIF or WebP';

/**
 * The images that evaluated references give. Of a list, elements of other types are left out.
 * @throws StepError `InvalidParameters` that names the image
 */
export function imagesOf(given: unknown): ModelImage[] {
  if (given === undefined) return [];
  const all = (Array.isArray(given) ? given : [given]).flatMap((value: unknown, index) => {
    const place = `images[${index}]`;
    if (!Array.isArray(value)) return [imageOf(value, place)];
    return value.flatMap((each: unknown, at) => (isImage(each) ? [imageOf(each, `${place}[${at}]`)] : []));
  });
  if (all.length > MOST_IMAGES)
    throw invalid(`images: there are ${all.length} images, and a step takes at most ${MOST_IMAGES}`);
  const bytes = all.reduce((sum, image) => sum + image.bytes, 0);
  if (bytes > MOST_BYTES)
    throw invalid(`images: they have ${bytes} bytes together, and a step takes at most ${MOST_BYTES}`);
  return all.map(({ mediaType, data }) => ({ mediaType, data }));
}

/** The error of a model that refused a request with images says so. Any other error is returned as it is. */
export function explainRefusal(error: unknown, messages: readonly ModelMessage[]): unknown {
  const count = messages.reduce(
    (sum, message) => sum + (message.role === 'user' ? (message.images?.length ?? 0) : 0),
    0,
  );
  if (!(error instanceof StepError) || error.reason !== 'Refused' || count === 0) return error;
  const sent = `the request had ${count} ${count === 1 ? 'image' : 'images'}: if the model takes none, choose another model, or remove images`;
  return new StepError(error.reason, `${error.message}; ${sent}`, {
    retryable: error.retryable,
    cause: error,
  });
}

/** Whether an attachment or a file says that it is an image of a type that models take. */
function isImage(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const type = value['content_type'] ?? value['mime_type'];
  return typeof type === 'string' && TYPES.some(({ mediaType }) => type.toLowerCase().startsWith(mediaType));
}

function imageOf(value: unknown, place: string): ModelImage & { bytes: number } {
  if (!isRecord(value))
    throw invalid(
      `${place}: is no file: give one reference to an attachment, a list of attachments, or a file`,
    );
  const { content, encoding = 'base64' } = value;
  const name = value['filename'] ?? value['name'];
  const named = typeof name === 'string' ? `${place} (${name.slice(0, 100)})` : place;
  if (typeof content !== 'string')
    throw invalid(
      `${named}: has no content: set attachments: Content at the mail trigger, and raise maxAttachmentBytes for larger ones`,
    );
  const bytes = encoding === 'base64' ? Buffer.from(content, 'base64') : Buffer.from(content);
  const type = TYPES.find(({ starts, at }) => starts.every((byte, index) => bytes[at + index] === byte));
  if (!type) throw invalid(`${named}: is not an image that models take: use ${TAKEN}`);
  return { mediaType: type.mediaType, data: bytes.toString('base64'), bytes: bytes.length };
}

function invalid(message: string): StepError {
  return new StepError('InvalidParameters', message);
}
