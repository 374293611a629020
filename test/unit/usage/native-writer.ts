type Value = number | string | readonly number[] | readonly string[]

export interface Column {
  readonly type: 'String' | 'Float64' | 'UInt32' | 'UInt8' | 'Array(String)' | 'Array(Float64)'
  readonly values: readonly Value[]
}

/** A block of ClickHouse's Native format: each column's name, type and values, one column behind the other. */
export const nativeBlock = (rows: number, columns: readonly Column[]): Buffer =>
  Buffer.concat([
    leb128(columns.length),
    leb128(rows),
    ...columns.flatMap(({ type, values }, index) => [text(`c${index}`), text(type), ...column(type, values)]),
  ])

const column = (type: string, values: readonly Value[]): readonly Buffer[] => {
  const inner = /^Array\((.*)\)$/u.exec(type)?.[1]
  if (inner === undefined) return values.map((value) => scalar(type, value as number | string))
  let end = 0n
  const ends = values.map((value) => uint64((end += BigInt((value as readonly unknown[]).length))))
  return [...ends, ...(values as readonly (readonly number[])[]).flat().map((one) => scalar(inner, one))]
}

const scalar = (type: string, value: number | string): Buffer => {
  switch (type) {
    case 'String':
      return text(value as string)
    case 'Float64':
      return filled(8, (bytes) => bytes.writeDoubleLE(value as number))
    case 'UInt32':
      return filled(4, (bytes) => bytes.writeUInt32LE(value as number))
    case 'UInt8':
      return Buffer.from([value as number])
    default:
      throw new Error(`no column of type ${type} is written here`)
  }
}

const filled = (size: number, write: (bytes: Buffer) => void): Buffer => {
  const bytes = Buffer.alloc(size)
  write(bytes)
  return bytes
}

const uint64 = (value: bigint): Buffer => filled(8, (bytes) => bytes.writeBigUInt64LE(value))

const leb128 = (value: number): Buffer =>
  value < 128
    ? Buffer.from([value])
    : Buffer.concat([Buffer.from([(value & 127) | 128]), leb128(value >>> 7)])

const text = (value: string): Buffer => {
  const bytes = Buffer.from(value)
  return Buffer.concat([leb128(bytes.length), bytes])
}
