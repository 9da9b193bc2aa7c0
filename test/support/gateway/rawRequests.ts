/**
 * Requests as bytes, of which every program should say the same: what is malformed, what is odd and has a
 * status of its own, and what is an event though senders seldom write it so. They are made for the webhook of
 * the workflow `orders`.
 */
import { NAMESPACE } from './gatewayHarness.ts';

const TARGET = `/webhook/${NAMESPACE}.orders/new`;
export const HEAD = `POST ${TARGET} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;

export const smuggled = `GET ${TARGET}?smuggled HTTP/1.1\r\nHost: x\r\n\r\n`;
/** Its escapes stand for nothing, which routers like to answer by themselves. */
const NOTHING = '/webhook/%zz';
export const LENGTH = 'Content-Length: 2\r\n';
export const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
export const CLOSE = 'Connection: close\r\n';
const over = (version: string) => `${HEAD.replace('HTTP/1.1', version)}${LENGTH}\r\n{}`;

/** What no two programs may read differently. After the first sign of it nothing is believed any more. */
export const MALFORMED: [what: string, bytes: string][] = [
  ['both ways to tell the length', `${HEAD}${LENGTH}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['an empty transfer coding and a length', `${HEAD}Transfer-Encoding:\r\n${LENGTH}\r\n{}${smuggled}`],
  ['two lengths', `${HEAD}${LENGTH}Content-Length: 3\r\n\r\n{}${smuggled}`],
  ['the same length twice', `${HEAD}${LENGTH}${LENGTH}\r\n{}${smuggled}`],
  ['a list of lengths', `${HEAD}Content-Length: 2, 2\r\n\r\n{}${smuggled}`],
  ['a length with a sign', `${HEAD}Content-Length: +2\r\n\r\n{}`],
  ['a negative length', `${HEAD}Content-Length: -1\r\n\r\n{}`],
  ['a hexadecimal length', `${HEAD}Content-Length: 0x2\r\n\r\n{}`],
  ['a length with a space in it', `${HEAD}Content-Length: 2 3\r\n\r\n{}`],
  ['an empty length', `${HEAD}Content-Length:\r\n\r\n{}`],
  ['a length that no counter holds', `${HEAD}Content-Length: 99999999999999999999\r\n\r\n{}`],
  ['a space before the colon', `${HEAD}Content-Length : 2\r\n\r\n{}${smuggled}`],
  ['a space in the name of a header', `${HEAD}X A: b\r\n${LENGTH}\r\n{}`],
  ['a header without a name', `${HEAD}: b\r\n${LENGTH}\r\n{}`],
  ['a header without a colon', `${HEAD}X-A\r\n${LENGTH}\r\n{}`],
  ['a bare line feed in a value', `${HEAD}X-A: b\nX-C: d\r\n${LENGTH}\r\n{}`],
  ['a bare carriage return in a value', `${HEAD}X-A: b\rX-C: d\r\n${LENGTH}\r\n{}`],
  ['bare line feeds all over', `${HEAD}${LENGTH}\r\n{}`.replaceAll('\r\n', '\n')],
  ['headers that end with a bare line feed', `${HEAD}${LENGTH}\n{}`],
  ['a folded header', `${HEAD}X-A: b\r\n c\r\n${LENGTH}\r\n{}`],
  ['a first header that is folded', `POST ${TARGET} HTTP/1.1\r\n Host: x\r\n${LENGTH}\r\n{}`],
  ['a NUL in a value', `${HEAD}X-A: b\0c\r\n${LENGTH}\r\n{}`],
  ['a NUL in a name', `${HEAD}X-\0A: b\r\n${LENGTH}\r\n{}`],
  ['a NUL in the address', `POST ${TARGET}\0 HTTP/1.1\r\nHost: x\r\n${LENGTH}\r\n{}`],
  ['a NUL alone', '\0'],
  ['a control character in a value', `${HEAD}X-A: b\u0001c\r\n${LENGTH}\r\n{}`],
  ['a chunk size that is no number', `${CHUNKED}xx\r\n{}\r\n0\r\n\r\n`],
  ['a negative chunk size', `${CHUNKED}-2\r\n{}\r\n0\r\n\r\n`],
  ['a chunk size with a prefix', `${CHUNKED}0x2\r\n{}\r\n0\r\n\r\n`],
  ['a chunk size with a space', `${CHUNKED}2 \r\n{}\r\n0\r\n\r\n`],
  ['no chunk size', `${CHUNKED}\r\n{}\r\n0\r\n\r\n`],
  ['a chunk size that no counter holds', `${CHUNKED}FFFFFFFFFFFFFFFFF\r\n{}`],
  ['a chunk that is longer than its size', `${CHUNKED}2\r\n{}}\r\n0\r\n\r\n`],
  ['a bare line feed after a chunk size', `${CHUNKED}2\n{}\r\n0\r\n\r\n${smuggled}`],
  ['a bare line feed after a chunk', `${CHUNKED}2\r\n{}\n0\r\n\r\n${smuggled}`],
  ['a bare line feed in a chunk extension', `${CHUNKED}2;a\nb\r\n{}\r\n0\r\n\r\n${smuggled}`],
  ['a chunk extension of 17,000 bytes', `${CHUNKED}2;${'x'.repeat(17_000)}\r\n{}\r\n0\r\n\r\n`],
  ['a length among the trailers', `${CHUNKED}2\r\n{}\r\n0\r\n${LENGTH}\r\n${smuggled}`],
  [
    'a transfer coding after chunked',
    `${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`,
  ],
  ['a transfer coding before chunked', `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
  [
    'a transfer coding that is like chunked',
    `${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
  ],
  ['chunked in quotes', `${HEAD}Transfer-Encoding: "chunked"\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
  [
    'chunked twice',
    `${HEAD}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  ],
  ['identity as a transfer coding', `${HEAD}Transfer-Encoding: identity\r\n\r\n${smuggled}`],
  ['chunks in HTTP/1.0', `${CHUNKED.replace('1.1', '1.0')}2\r\n{}\r\n0\r\n\r\n`],
  ['no Host', `POST ${TARGET} HTTP/1.1\r\nContent-Type: application/json\r\n${LENGTH}\r\n{}`],
  ['two hosts', `${HEAD}Host: y\r\n${LENGTH}\r\n{}`],
  ['HTTP/0.9', `GET ${TARGET}\r\n\r\n`],
  ['HTTP/1.2', over('HTTP/1.2')],
  ['HTTP/1.10', over('HTTP/1.10')],
  ['HTTP/2 in the words of HTTP/1', over('HTTP/2.0')],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a method in lower case', `${HEAD.replace('POST', 'post')}${LENGTH}\r\n{}`],
  ['a method that nobody knows', `${HEAD.replace('POST', 'FETCH')}${LENGTH}\r\n{}`],
  ['a method without end', 'X'.repeat(20_000)],
  ['another protocol with a method of its own', `PLAY ${TARGET} RTSP/1.0\r\nHost: x\r\n\r\n${smuggled}`],
  ['a tunnel', `CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`],
  ['a space in the address', `POST ${TARGET} x HTTP/1.1\r\nHost: x\r\n${LENGTH}\r\n{}`],
  ['tabs in the first line', `POST\t${TARGET}\tHTTP/1.1\r\nHost: x\r\n${LENGTH}\r\n{}`],
  ['an address that is no path', 'POST webhook HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['an address with other bytes than ASCII', `POST ${TARGET}\u00ff HTTP/1.1\r\nHost: x\r\n\r\n`],
  ['an answer', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
  ['a Host with a user', `${HEAD.replace('Host: x', 'Host: me@x')}${LENGTH}\r\n{}`],
  ['a Host with a path', `${HEAD.replace('Host: x', 'Host: x/y')}${LENGTH}\r\n{}`],
  ['a Host with a space', `${HEAD.replace('Host: x', 'Host: x y')}${LENGTH}\r\n{}`],
  ['a NUL in the Host', `${HEAD.replace('Host: x', 'Host: x\0')}${LENGTH}\r\n{}`],
  [
    'a transfer coding among the trailers',
    `${CHUNKED}2\r\n{}\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n${smuggled}`,
  ],
  ['a length behind a tab', `${HEAD}Content-Length\t: 2\r\n\r\n{}${smuggled}`],
  ['a space before the method', ` ${HEAD}${LENGTH}\r\n{}`],
  ['HTTP in lower case', over('http/1.1')],
  ['HTTP without a version', over('HTTP')],
  ['an authority for an address', `POST x:80 HTTP/1.1\r\nHost: x\r\n\r\n`],
  ['no Host, and an address of nothing', `GET ${NOTHING} HTTP/1.1\r\n\r\n`],
  [
    'two hosts, and an address of nothing',
    `GET ${NOTHING} HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n${smuggled}`,
  ],
  ['HTTP/0.9, and an address of nothing', `GET ${NOTHING}\r\n\r\n`],
  [
    'a transfer coding before chunked, and an address of nothing',
    `${HEAD.replace(TARGET, NOTHING)}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n${smuggled}`,
  ],
];

/** What is odd and not wrong, or wrong in a way that has a status of its own. */
export const ODD: [what: string, answers: number[], bytes: string][] = [
  ['a header block beyond 16 KiB', [431], `${HEAD}X-Long: ${'x'.repeat(17_000)}\r\n${LENGTH}\r\n{}`],
  ['trailers beyond 16 KiB', [431], `${CHUNKED}2\r\n{}\r\n0\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`],
  ['an address beyond 16 KiB', [431], `POST ${TARGET}?${'x'.repeat(17_000)} HTTP/1.1\r\n`],
  [
    'an address beyond 8,192 characters',
    [414],
    `POST ${TARGET}?${'x'.repeat(8_192)} HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`,
  ],
  ['another expectation than to go on', [417], `${HEAD}${CLOSE}Expect: 200-ok\r\n${LENGTH}\r\n{}`],
  ['another method', [405], `${HEAD.replace('POST', 'QUERY')}${CLOSE}${LENGTH}\r\n{}`],
  [
    'an address with another host and another path',
    [404],
    `GET http://y/secret HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`,
  ],
  ['an address with another scheme', [404], `GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`],
  ['the address of the server itself', [404], `OPTIONS * HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`],
  ['dots in the path', [404], `${HEAD.replace('/webhook', '/webhook/../webhook')}${CLOSE}${LENGTH}\r\n{}`],
  ['two slashes', [404], `${HEAD.replace('/webhook', '//webhook')}${CLOSE}${LENGTH}\r\n{}`],
  ['a fragment', [404], `${HEAD.replace('/new', '/new#x')}${CLOSE}${LENGTH}\r\n{}`],
  [
    'a length above the limit, and a request for the body',
    [413],
    `${HEAD}Content-Length: 1048577\r\n\r\n${smuggled}`,
  ],
  ['a length with white space around', [400], `${HEAD}${CLOSE}Content-Length: \t2 \r\n\r\n{]`],
  ['a length with leading zeros', [400], `${HEAD}${CLOSE}Content-Length: 002\r\n\r\n{]`],
  ['HEAD', [405], `HEAD ${TARGET} HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`],
  ['GET', [405], `GET ${TARGET} HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`],
  ['OPTIONS', [405], `OPTIONS ${TARGET} HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`],
  ['TRACE', [405], `TRACE ${TARGET} HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`],
  ['a body of a method that has none', [405], `GET ${TARGET} HTTP/1.1\r\nHost: x\r\n${CLOSE}${LENGTH}\r\n{}`],
  ['a compressed body', [415], `${HEAD}${CLOSE}Content-Encoding: gzip\r\n${LENGTH}\r\n{}`],
  ['no type', [415], `POST ${TARGET} HTTP/1.1\r\nHost: x\r\n${CLOSE}${LENGTH}\r\n{}`],
  ['two types', [415], `${HEAD}${CLOSE}Content-Type: text/plain\r\n${LENGTH}\r\n{}`],
  ['another charset', [415], `${HEAD.replace('/json', '/json; charset=latin1')}${CLOSE}${LENGTH}\r\n{}`],
  ['a form', [415], `${HEAD.replace('json', 'x-www-form-urlencoded')}${CLOSE}${LENGTH}\r\na=`],
  ['a byte order mark', [400], `${HEAD}${CLOSE}Content-Length: 5\r\n\r\n\u00ef\u00bb\u00bf{}`],
  ['an overlong character', [400], `${HEAD}${CLOSE}Content-Length: 4\r\n\r\n"\u00c0\u00af"`],
  ['no body', [400], `${HEAD}${CLOSE}\r\n`],
  ['an empty body', [400], `${HEAD}${CLOSE}Content-Length: 0\r\n\r\n`],
  ['an empty body in chunks', [400], `${HEAD}${CLOSE}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['an empty key', [400], `${HEAD}${CLOSE}Idempotency-Key:\r\n${LENGTH}\r\n{}`],
  ['an empty expectation', [417], `${HEAD}${CLOSE}Expect:\r\n${LENGTH}\r\n{}`],
  [
    'two expectations',
    [417],
    `${HEAD}${CLOSE}Expect: 100-continue\r\nExpect: 100-continue\r\n${LENGTH}\r\n{}`,
  ],
  ['escapes that stand for nothing', [404], `GET ${NOTHING} HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`],
  ['escapes of an overlong slash', [404], `${HEAD.replace('/new', '/%c0%afnew')}${CLOSE}${LENGTH}\r\n{}`],
  ['an escaped NUL', [404], `${HEAD.replace('/new', '/new%00')}${CLOSE}${LENGTH}\r\n{}`],
  ['escapes of what is right', [404], `${HEAD.replace('/new', '/n%65w')}${CLOSE}${LENGTH}\r\n{}`],
  ['escaped dots', [404], `${HEAD.replace('/webhook', '/%2e%2e/webhook')}${CLOSE}${LENGTH}\r\n{}`],
  ['a backslash', [404], `${HEAD.replace('/new', '\\new')}${CLOSE}${LENGTH}\r\n{}`],
  [
    'a request for nothing after the last one',
    [404],
    `GET ${NOTHING} HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\nGET ${NOTHING} HTTP/1.1\r\nHost: x\r\n\r\n`,
  ],
  [
    'whole requests after refused ones',
    [404, 415, 405],
    `GET /a HTTP/1.1\r\nHost: x\r\n\r\n${HEAD.replace('json', 'xml')}${LENGTH}\r\n{}GET ${TARGET} HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`,
  ],
];

/** What senders of all kinds and ages may send. */
export const EVENTS: [what: string, bytes: string][] = [
  ['chunks', `${HEAD}${CLOSE}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n`],
  [
    'chunks with extensions and trailers',
    `${HEAD}${CLOSE}Transfer-Encoding: Chunked\r\n\r\n2;a=b;c\r\n{}\r\n0\r\nX-T: y\r\n\r\n`,
  ],
  ['HTTP/1.0 without a host', `POST ${TARGET} HTTP/1.0\r\nContent-Type: application/json\r\n${LENGTH}\r\n{}`],
  ['HTTP/1.0 that expects to go on', over('HTTP/1.0').replace('\r\n', '\r\nExpect: 100-continue\r\n')],
  ['an address with a host', `${HEAD.replace(TARGET, `http://y${TARGET}`)}${CLOSE}${LENGTH}\r\n{}`],
  ['an empty line before', `\r\n${HEAD}${CLOSE}${LENGTH}\r\n{}`],
  ['other bytes than ASCII in a header', `${HEAD}X-A: \u00e9\u00ff\r\n${CLOSE}${LENGTH}\r\n{}`],
  [
    'an offer to change to WebSocket',
    `${HEAD}Upgrade: websocket\r\nConnection: Upgrade, close\r\n${LENGTH}\r\n{}`,
  ],
  ['three thousand headers', `${HEAD}${'a:\r\n'.repeat(3_000)}${CLOSE}${LENGTH}\r\n{}`],
  ['an empty host', `${HEAD.replace('Host: x', 'Host:')}${CLOSE}${LENGTH}\r\n{}`],
  ['a host with a port', `${HEAD.replace('Host: x', 'Host: [::1]:8080')}${CLOSE}${LENGTH}\r\n{}`],
  ['a query that is no query', `${HEAD.replace('/new', '/new?%zz&=&__proto__[a]=1')}${CLOSE}${LENGTH}\r\n{}`],
  [
    'an offer to change to HTTP/2',
    `${HEAD}Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\nConnection: Upgrade, HTTP2-Settings, close\r\n${LENGTH}\r\n{}`,
  ],
  [
    'chunk sizes with zeros before',
    `${HEAD}${CLOSE}Transfer-Encoding: chunked\r\n\r\n0002\r\n{}\r\n000\r\n\r\n`,
  ],
  [
    'a quoted chunk extension',
    `${HEAD}${CLOSE}Transfer-Encoding: chunked\r\n\r\n2;a="b;c"\r\n{}\r\n0;d\r\n\r\n`,
  ],
  [
    'a host among the trailers',
    `${HEAD}${CLOSE}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nHost: y\r\n\r\n`,
  ],
];
