const H = "Host: gw\r\n";
const chunked = "5\r\nhello\r\n0\r\n\r\n";
const get = (fields: string, target = "/a") => `GET ${target} HTTP/1.1\r\n${fields}\r\n`;
const post = (fields: string, body: string) => `POST /a HTTP/1.1\r\n${H}${fields}\r\n${body}`;

/** The target /a is replaced by that of the test. */
const cases: [name: string, bytes: string][] = [
  ["length and chunks", post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\nG")],
  ["chunks and length", post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "8\r\nSMUGGLED\r\n0\r\n\r\n")],
  ["chunked, then identity", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", chunked)],
  ["identity, chunked", post("Transfer-Encoding: identity, chunked\r\n", chunked)],
  ["xchunked", post("Transfer-Encoding: xchunked\r\n", chunked)],
  ["blank before the colon", post("Transfer-Encoding : chunked\r\n", chunked)],
  ["tab before the colon", post("Transfer-Encoding\t: chunked\r\n", chunked)],
  ["gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n", chunked)],
  ["chunked, gzip", post("Transfer-Encoding: chunked, gzip\r\n", chunked)],
  ["chunked twice", post("Transfer-Encoding: chunked, chunked\r\n", chunked)],
  ["vertical tab", post("Transfer-Encoding: \x0bchunked\r\n", chunked)],
  ["two lengths", post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!")],
  ["length +5", post("Content-Length: +5\r\n", "hello")],
  ["length -1", post("Content-Length: -1\r\n", "hello")],
  ["length 0x5", post("Content-Length: 0x5\r\n", "hello")],
  ["length 5 5", post("Content-Length: 5 5\r\n", "hello")],
  ["length of 2^64+5", post("Content-Length: 18446744073709551621\r\n", "hello")],
  ["length of 2^53+1", post("Content-Length: 9007199254740993\r\n", "hello")],
  ["header that begins with a blank", `GET /a HTTP/1.1\r\n ${H}\r\n`],
  ["NUL in a value", get(`${H}X-A: b\0c\r\n`)],
  ["CR in a value", get(`${H}X-A: b\rX-B: c\r\n`)],
  ["chunk size 0x5", post("Transfer-Encoding: chunked\r\n", "0x5\r\nhello\r\n0\r\n\r\n")],
  ["chunk size +5", post("Transfer-Encoding: chunked\r\n", "+5\r\nhello\r\n0\r\n\r\n")],
  ["chunk size of 2^64+5", post("Transfer-Encoding: chunked\r\n", "10000000000000005\r\nhello\r\n0\r\n\r\n")],
  ["chunk without an end", post("Transfer-Encoding: chunked\r\n", "5\r\nhelloXX0\r\n\r\n")],
  ["line feed in a chunk extension", post("Transfer-Encoding: chunked\r\n", "5;a\nb\r\nhello\r\n0\r\n\r\n")],
  ["unknown expectation", post("Expect: 200-maybe\r\nContent-Length: 5\r\n", "hello")],
  ["HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["CONNECT", "CONNECT evil:443 HTTP/1.1\r\nHost: evil:443\r\n\r\n"],
  ["absolute form without a host", get(H, "http:///a")],
  ["absolute form, ftp", get(H, "ftp://other.example/a")],
  ["authority form", get(H, "evil:80")],
  ["asterisk form", get(H, "*")],
  ["target with a backslash", get(H, "\\a")],
  ["target with a NUL", get(H, "/a\0b")],
  ["target with a blank", get(H, "/a b")],
  ["two Hosts", get("Host: one\r\nHost: two\r\n")],
  ["two Hosts, new interface", get("Host: one\r\nHost: two\r\n", "/v1/datasets/61")],
  ["list of Hosts", get("Host: one, two\r\n")],
  ["Host with a path", get("Host: one/../x?y#z\r\n")],
  ["Host with a user", get("Host: a@b\r\n")],
  ["Host with a quote", get('Host: a";for=1.2.3.4\r\n')],
  ["no Host", get("")],
  ["lower-case method", `get /a HTTP/1.1\r\n${H}\r\n`],
  ["unknown method", `FOO /a HTTP/1.1\r\n${H}\r\n`],
  ["header name with a blank", get(`${H}X A: b\r\n`)],
  ["header without a colon", get(`${H}XA\r\n`)],
  ["header without a name", get(`${H}: b\r\n`)],
  ["header name beyond ASCII", get(`${H}X\xe9: b\r\n`)],
  ["header of 200,000 bytes", get(`${H}X-Long: ${"a".repeat(200_000)}\r\n`)],
];

/** Malformed and ambiguous requests for a target, each with its name: no gateway may accept one. */
export const forbiddenRequests = (target: string): [name: string, bytes: string][] =>
  cases.map(([name, bytes]) => [name, bytes.replace(/^(\w+) \/a /, `$1 ${target} `)]);
