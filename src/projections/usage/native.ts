/**
 * Reads blocks of ClickHouse's Native format: columns, one behind the other, so that numbers are taken over as they lie
 * instead of one by one. https://clickhouse.com/docs/interfaces/formats/Native
 */
export interface NativeBlock {
  readonly rows: number
  /** Columns in the order of the SELECT. */
  readonly columns: readonly NativeColumn[]
}

export type NativeColumn = Strings | Numbers | Arrays

/** Strings as bytes in `bytes`: string `i` is `starts[i]` to `ends[i]`. */
export interface Strings {
  readonly kind: 'strings'
  readonly bytes: Buffer
  readonly starts: Uint32Array
  readonly ends: Uint32Array
}

export interface Numbers {
  readonly kind: 'numbers'
  readonly values: Float64Array | Uint32Array | Uint8Array
}

/** Array `i` is the elements up to `ends[i]` that its predecessors left. */
export interface Arrays {
  readonly kind: 'arrays'
  readonly ends: Float64Array
  readonly elements: Strings | Numbers
}

export const textAt = ({ bytes, starts, ends }: Strings, row: number): string =>
  bytes.toString('utf8', starts[row], ends[row])

/** Whether two strings of a column have the same bytes. */
export const isSameText = ({ bytes, starts, ends }: Strings, a: number, b: number): boolean => {
  const length = ends[a]! - starts[a]!
  if (length !== ends[b]! - starts[b]!) return false
  for (let i = 0; i < length; i += 1) if (bytes[starts[a]! + i] !== bytes[starts[b]! + i]) return false
  return true
}

/** The block is not whole yet. */
class NotYet extends Error {}

/** Turns bytes that may break anywhere into blocks; each byte is looked at a bounded number of times. */
export async function* nativeBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<NativeBlock> {
  let pending: Uint8Array[] = []
  let size = 0
  let tryAt = 0
  for await (const chunk of chunks) {
    pending.push(chunk)
    size += chunk.length
    if (size < tryAt) continue
    let bytes: Uint8Array = pending.length === 1 ? chunk : Buffer.concat(pending)
    for (let read = tryRead(bytes); read !== undefined; read = tryRead(bytes)) {
      yield read.block
      bytes = bytes.subarray(read.end)
      if (bytes.length === 0) break
    }
    pending = bytes.length === 0 ? [] : [bytes]
    size = bytes.length
    tryAt = size * 2
  }
  if (size === 0) return
  const rest: Uint8Array = Buffer.concat(pending)
  for (let at = 0; at < rest.length;) {
    const read = tryRead(rest.subarray(at))
    if (read === undefined) throw new Error('the response ended in the middle of a block')
    yield read.block
    at += read.end
  }
}

const tryRead = (bytes: Uint8Array): { readonly block: NativeBlock; readonly end: number } | undefined => {
  try {
    const cursor = new Cursor(bytes)
    const columns = cursor.length()
    const rows = cursor.length()
    const block = { rows, columns: Array.from({ length: columns }, () => column(cursor, rows)) }
    return { block, end: cursor.at }
  } catch (error) {
    if (error instanceof NotYet) return undefined
    throw error
  }
}

const column = (cursor: Cursor, rows: number): NativeColumn => {
  cursor.skip(cursor.length())
  const type = cursor.text()
  const inner = /^Array\((.*)\)$/.exec(type)?.[1]
  if (inner === undefined) return scalars(cursor, type, rows)
  const ends = cursor.uint64s(rows)
  return { kind: 'arrays', ends, elements: scalars(cursor, inner, ends[rows - 1] ?? 0) }
}

const scalars = (cursor: Cursor, type: string, rows: number): Strings | Numbers => {
  switch (type) {
    case 'String':
      return cursor.strings(rows)
    case 'Float64':
      return { kind: 'numbers', values: new Float64Array(cursor.copy(rows * 8)) }
    case 'UInt32':
      return { kind: 'numbers', values: new Uint32Array(cursor.copy(rows * 4)) }
    case 'UInt8':
      return { kind: 'numbers', values: new Uint8Array(cursor.copy(rows)) }
    default:
      throw new Error(`unsupported column type ${type}`)
  }
}

class Cursor {
  at = 0
  readonly bytes: Buffer
  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  skip(length: number): number {
    const start = this.at
    if (start + length > this.bytes.length) throw new NotYet()
    this.at = start + length
    return start
  }

  /** LEB128, as ClickHouse writes lengths. */
  length(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at]
      if (byte === undefined) throw new NotYet()
      this.at += 1
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }

  text(): string {
    const length = this.length()
    const start = this.skip(length)
    return this.bytes.toString('utf8', start, start + length)
  }

  /** A copy, so that it is aligned. */
  copy(length: number): ArrayBuffer {
    const start = this.skip(length)
    return this.bytes.buffer.slice(
      this.bytes.byteOffset + start,
      this.bytes.byteOffset + start + length,
    ) as ArrayBuffer
  }

  uint64s(count: number): Float64Array {
    const halves = new Uint32Array(this.copy(count * 8))
    const values = new Float64Array(count)
    for (let i = 0; i < count; i += 1) values[i] = halves[2 * i]! + halves[2 * i + 1]! * 2 ** 32
    return values
  }

  strings(count: number): Strings {
    const starts = new Uint32Array(count)
    const ends = new Uint32Array(count)
    const { bytes } = this
    for (let i = 0; i < count; i += 1) {
      const length = this.length()
      starts[i] = this.at
      this.at += length
      ends[i] = this.at
    }
    if (this.at > bytes.length) throw new NotYet()
    return { kind: 'strings', bytes, starts, ends }
  }
}
