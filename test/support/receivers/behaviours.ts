import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Behaviour, Received } from './receiver.js'

type Headers = Readonly<Record<string, string>>

const head = (status: number, headers: Headers): string =>
  `HTTP/1.1 ${status} Answer\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

/** A whole answer; the connection stays open. */
export const answers =
  (status: number, headers: Headers = {}, body: string | Buffer = ''): Behaviour =>
  (socket) => {
    const bytes = Buffer.from(body)
    const length = status === 204 || status < 200 ? {} : { 'content-length': String(bytes.length) }
    socket.write(Buffer.concat([Buffer.from(head(status, { ...length, ...headers }), 'latin1'), bytes]))
  }

/** An answer, and the end of the connection. */
export const answersAndCloses =
  (status: number, body = ''): Behaviour =>
  (socket) =>
    void socket.end(head(status, { connection: 'close', 'content-length': String(body.length) }) + body)

export const redirects = (status: number, location: string): Behaviour => answers(status, { location })

/** The first message meets the first behaviour; the last one is for all that come later. */
export const inTurn = (...behaviours: readonly [Behaviour, ...Behaviour[]]): Behaviour => {
  let met = 0
  return (socket, received) => {
    behaviours[Math.min(met, behaviours.length - 1)]!(socket, received)
    met += 1
  }
}

/** What to do is decided by each message. */
export const dependingOn =
  (choose: (received: Received) => Behaviour): Behaviour =>
  (socket, received) =>
    choose(received)(socket, received)

export const after =
  (ms: number, behaviour: Behaviour): Behaviour =>
  (socket, received) => {
    const timer = setTimeout(() => {
      socket.off('close', forget)
      if (!socket.destroyed) behaviour(socket, received)
    }, ms)
    const forget = () => clearTimeout(timer)
    socket.once('close', forget)
  }

/** Says nothing, for ever. */
export const hangs: Behaviour = () => undefined

/** A head, a part of the body, and then nothing more. */
export const hangsInBody =
  (status: number, part = 'part'): Behaviour =>
  (socket) =>
    void socket.write(head(status, { 'content-length': '1000' }) + part)

/** A head at once, then a body of one byte every so often, without end. */
export const drips =
  (status: number, everyMs: number): Behaviour =>
  (socket) => {
    socket.write(head(status, { 'transfer-encoding': 'chunked' }))
    repeat(socket, everyMs, () => socket.write('1\r\nx\r\n'))
  }

/** A head of which one byte comes every so often. */
export const dripsHead =
  (everyMs: number): Behaviour =>
  (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx: ')
    repeat(socket, everyMs, () => socket.write('x'))
  }

/** Ends the connection without an answer: politely, or with a reset. */
export const closes: Behaviour = (socket) => void socket.end()
export const resets: Behaviour = (socket) => void socket.resetAndDestroy()

/** A head and a part of the body, then a reset. */
export const resetsInBody =
  (status: number): Behaviour =>
  (socket) =>
    void socket.write(head(status, { 'content-length': '1000' }) + 'part', () => socket.resetAndDestroy())

/** Bytes that are no HTTP. */
export const answersGarbage: Behaviour = (socket) => void socket.end('220 mail.example ESMTP\r\n')

/** A body of so many bytes, as fast as they are taken. */
export const answersHugely =
  (status: number, bytes: number): Behaviour =>
  (socket) => {
    const piece = Buffer.alloc(65_536, 'x')
    socket.write(head(status, { 'content-length': String(bytes) }))
    let left = bytes
    pour(socket, () => {
      const part = piece.subarray(0, Math.min(left, piece.length))
      left -= part.length
      return part.length === 0 ? undefined : part
    })
  }

/** Chunks without end, as fast as they are taken. */
export const answersInEndlessChunks =
  (status: number): Behaviour =>
  (socket) => {
    const piece = Buffer.concat([Buffer.from('4000\r\n'), Buffer.alloc(0x4000, 'x'), Buffer.from('\r\n')])
    socket.write(head(status, { 'transfer-encoding': 'chunked' }))
    pour(socket, () => piece)
  }

/** Header lines without end, before the body or behind it. */
export const floodsHeaders: Behaviour = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\n')
  pour(socket, headerLines())
}
export const floodsTrailers: Behaviour = (socket) => {
  socket.write(head(200, { 'transfer-encoding': 'chunked', trailer: 'x-0' }) + '1\r\nx\r\n0\r\n')
  pour(socket, headerLines())
}
/** Heads that announce an answer, without end. */
export const floodsEarlyHints: Behaviour = (socket) => {
  pour(socket, () => Buffer.from(head(103, { link: '</style.css>' })))
}

/** A few KiB that would be 64 MiB. */
export const answersWithBomb = (status: number): Behaviour =>
  answers(status, { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(64 * 1024 * 1024)))

const headerLines = () => {
  let at = 0
  return () => Buffer.from(`x-${(at += 1)}: ${'y'.repeat(1000)}\r\n`)
}

const repeat = (socket: Socket, everyMs: number, write: () => void): void => {
  const timer = setInterval(write, everyMs)
  socket.once('close', () => clearInterval(timer))
}

/** Writes what comes next whenever there is room; undefined ends it. */
const pour = (socket: Socket, next: () => Buffer | undefined): void => {
  const write = (): void => {
    while (!socket.destroyed) {
      const part = next()
      if (part === undefined) return
      if (!socket.write(part)) return void socket.once('drain', write)
    }
  }
  write()
}
