import { expect, test } from 'vitest';
import { StepError } from '../../api/reasons.ts';
import { explainRefusal, imagesOf } from './images.ts';

const bytesOf = {
  png: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2]),
  jpeg: Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1]),
  gif: Buffer.from('GIF89a1'),
  webp: Buffer.from('RIFF\0\0\0\0WEBPVP8 '),
  pdf: Buffer.from('%PDF-1.7'),
};
const attachment = (content_type: string, bytes?: Buffer) => ({
  filename: 'a.bin',
  content_type,
  size: bytes?.length ?? 9,
  ...(bytes && { content: bytes.toString('base64') }),
});
const file = (mime_type: string, bytes: Buffer) => ({
  file_id: '1',
  name: 'scan',
  mime_type,
  size: bytes.length,
  encoding: 'base64',
  content: bytes.toString('base64'),
});

test('attachments and downloaded files are images, with the type that their bytes have', () => {
  const given = [attachment('image/png', bytesOf.png), file('application/octet-stream', bytesOf.jpeg)];
  expect(imagesOf(given)).toEqual([
    { mediaType: 'image/png', data: bytesOf.png.toString('base64') },
    { mediaType: 'image/jpeg', data: bytesOf.jpeg.toString('base64') },
  ]);
});

test('of a list of attachments the images are taken, and a step without images has none', () => {
  const list = [
    attachment('application/pdf', bytesOf.pdf),
    attachment('IMAGE/GIF; name=x', bytesOf.gif),
    attachment('image/svg+xml', Buffer.from('<svg/>')),
    attachment('image/webp', bytesOf.webp),
  ];
  expect(imagesOf([list]).map(({ mediaType }) => mediaType)).toEqual(['image/gif', 'image/webp']);
  expect(imagesOf([[]])).toEqual([]);
  expect(imagesOf(undefined)).toEqual([]);
});

test.each<[sentence: string, given: unknown, says: string]>([
  ['a text', ['hello'], 'images[0]: is no file: give one reference to an attachment'],
  [
    'a PDF',
    [attachment('application/pdf', bytesOf.pdf)],
    'images[0] (a.bin): is not an image that models take',
  ],
  [
    'a PDF that claims to be an image',
    [[attachment('image/png', bytesOf.pdf)]],
    'images[0][0] (a.bin): is not',
  ],
  [
    'no content',
    [[attachment('image/png')]],
    'images[0][0] (a.bin): has no content: set attachments: Content',
  ],
  [
    'more than ten images',
    [Array.from({ length: 11 }, () => attachment('image/png', bytesOf.png))],
    'there are 11 images, and a step takes at most 10',
  ],
  [
    'more bytes than fit',
    [attachment('image/png', Buffer.concat([bytesOf.png, Buffer.alloc(400_000)]))],
    'they have 400010 bytes together, and a step takes at most 384000',
  ],
])('%s is refused', (_sentence, given, says) => {
  expect(() => imagesOf(given)).toThrow(says);
});

test('the error of a model that refuses a request with images names them', () => {
  const images = [{ mediaType: 'image/png', data: 'x' }];
  const messages = [{ role: 'user' as const, text: 'What is it?', images }];
  const refused = new StepError('Refused', 'Invalid content type image_url.');
  expect(explainRefusal(refused, messages)).toMatchObject({
    reason: 'Refused',
    retryable: false,
    message:
      'Invalid content type image_url.; the request had 1 image: if the model takes none, choose another model, or remove images',
  });
  expect(explainRefusal(refused, [{ role: 'user', text: 'Hi' }])).toBe(refused);
  const other = new StepError('RateLimited', 'Slow down.');
  expect(explainRefusal(other, messages)).toBe(other);
});
