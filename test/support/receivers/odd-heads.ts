import type { Behaviour } from './receiver.js'

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const OK = 'HTTP/1.1 200 OK\r\nX-Two: b\r\n'

/** Responses with the body `ok` whose heads other clients accept. */
export const ODD_HEADS: Readonly<Record<string, string>> = {
  'with 100 before it': `${CONTINUE}${OK}Content-Length: 2\r\n\r\nok`,
  'with 100 before it, many times': `${CONTINUE.repeat(15)}${OK}Content-Length: 2\r\n\r\nok`,
  'with 100 and 103 before it': `${CONTINUE}HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`,
  'with its length twice': `${OK}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`,
  'with its length twice in a list': `${OK}Content-Length: 2, 2\r\n\r\nok`,
  'with LF alone': `${OK}Content-Length: 2\r\n\r\n`.replaceAll('\r\n', '\n') + 'ok',
  'with LF alone, and 100 before it':
    `${CONTINUE}${OK}Content-Length: 2\r\n\r\n`.replaceAll('\r\n', '\n') + 'ok',
  'with a length beside chunks': `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  'with a folded line': `${OK}X-Three: c\r\n d\r\nContent-Length: 2\r\n\r\nok`,
  'with a space before a colon': `${OK}Content-Length : 2\r\n\r\nok`,
  'without a reason': `${OK}Content-Length: 2\r\n\r\nok`.replace(' OK', ''),
}

/** Writes these bytes, in pieces. */
export const writes =
  (text: string, size = text.length): Behaviour =>
  async (socket) => {
    for (let at = 0; at < text.length && !socket.destroyed; at += size) {
      socket.write(text.slice(at, at + size), 'latin1')
      await new Promise(setImmediate)
    }
  }
