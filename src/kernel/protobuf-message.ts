import { BinaryReader } from '@bufbuild/protobuf/wire'

/** A field, and how it is encoded: a field that is encoded in another way is skipped like an unknown one. */
export const VARINT = (field: number): number => field << 3
export const I64 = (field: number): number => (field << 3) | 1
export const LEN = (field: number): number => (field << 3) | 2
export const I32 = (field: number): number => (field << 3) | 5

/** Reads nested messages in place, without copying them. */
export class ProtobufMessage extends BinaryReader {
  constructor(private readonly bytesOf: Buffer) {
    super(bytesOf)
  }

  /**
   * Reads the fields up to an end, and skips a field for which `read` returns false.
   *
   * @throws Error for bytes that are not a message
   */
  read(read: (key: number) => boolean, end = this.len): void {
    while (this.pos < end) {
      const key = this.uint32()
      if (!read(key)) this.skipField(key)
    }
    if (this.pos !== end) throw new RangeError('a field is longer than its message')
  }

  skipField(key: number): void {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- `skip` throws for an unknown wire type
    this.skip(key & 7, key >>> 3)
  }

  /** The end of a message within this one, whose fields come next. */
  end(): number {
    const end = this.uint32() + this.pos
    if (end > this.len) throw new RangeError('a message is truncated')
    return end
  }

  part(): Buffer {
    const end = this.end()
    const part = this.bytesOf.subarray(this.pos, end)
    this.pos = end
    return part
  }

  text(encoding: 'utf8' | 'hex' | 'base64' = 'utf8'): string {
    const end = this.end()
    const text = this.bytesOf.toString(encoding, this.pos, end)
    this.pos = end
    return text
  }
}
