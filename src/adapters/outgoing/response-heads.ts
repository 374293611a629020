import type { Socket } from 'node:net'

/** Longer heads are left to the parser, which refuses them. */
const MAX_HEAD_BYTES = 32_768

const HEADS: unique symbol = Symbol('response heads')

interface ReadSocket {
  [HEADS]?: ResponseHeads
}

/**
 * Makes the next response of a socket readable to strict parsers of HTTP. Servers send heads that RFC 9112 lets clients
 * read and that other clients accept: with LF alone, a repeated Content-Length, folded lines, or an unexpected 100.
 */
export const expectResponseHead = (socket: Socket): void => {
  const read = socket as ReadSocket
  const heads = read[HEADS] ?? new ResponseHeads(socket)
  read[HEADS] = heads
  heads.begin()
}

class ResponseHeads {
  private isInHead = false
  private held: Buffer = Buffer.alloc(0)

  constructor(socket: Socket) {
    const push = socket.push.bind(socket)
    socket.push = (chunk: Buffer | null, encoding) => {
      if (!this.isInHead) return push(chunk, encoding)
      const read = chunk === null ? this.rest() : this.read(chunk)
      const wantsMore = push(read)
      return chunk === null ? push(null) : wantsMore
    }
  }

  begin(): void {
    this.isInHead = true
  }

  private read(chunk: Buffer): Buffer {
    this.held = Buffer.concat([this.held, chunk])
    const heads: Buffer[] = []
    while (this.isInHead) {
      const text = this.held.subarray(0, MAX_HEAD_BYTES).toString('latin1')
      const [head] = /^(?:\r?\n)*HTTP\/[^]*?\r?\n\r?\n/.exec(text) ?? []
      if (head === undefined) {
        const isNone = text.length >= 16 && !/^(?:\r?\n)*HTTP\//.test(text)
        if (isNone || text.length === MAX_HEAD_BYTES) heads.push(this.rest())
        break
      }
      this.held = this.held.subarray(head.length)
      heads.push(Buffer.from(plainHead(head), 'latin1'))
      // After a head of 1xx another one comes.
      if (!/^\S+ 1(?!01)/.test(head.trimStart())) heads.push(this.rest())
    }
    return Buffer.concat(heads)
  }

  /** The bytes that are left, as they came. */
  private rest(): Buffer {
    const { held } = this
    this.held = Buffer.alloc(0)
    this.isInHead = false
    return held
  }
}

const plainHead = (head: string): string => {
  const [status = '', ...lines] = head
    .trim()
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
  const named = (name: string) => lines.filter((line) => line.toLowerCase().startsWith(`${name}:`))
  for (const [at, line] of lines.entries()) lines[at] = line.replace(/^([^\s:]+)[ \t]+:/, '$1:')
  const lengths = new Set(named('content-length').flatMap((line) => valueOf(line).split(/\s*,\s*/)))
  const isChunked = named('transfer-encoding').length > 0
  const others = lines.filter((line) => !/^content-length:/i.test(line))
  // Transfer-Encoding overrides Content-Length, and the connection is not used again (RFC 9112, 6.3).
  if (lengths.size > 0 && isChunked) others.push('Connection: close')
  const kept =
    lengths.size > 1
      ? lines
      : [...others, ...(isChunked ? [] : [...lengths].map((length) => `Content-Length: ${length}`))]
  // undici refuses 100, and takes any other announcement.
  return [status.replace(/^(\S+) 100\b/, '$1 102'), ...kept, '', ''].join('\r\n')
}

const valueOf = (line: string): string => line.slice(line.indexOf(':') + 1).trim()
