import { Transform, type TransformCallback } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'

/** A stream that decompresses a Content-Encoding; undefined for one that is not known. */
export const decompressor = (encoding: string): Transform | undefined => {
  switch (encoding) {
    case 'gzip':
      return createGunzip()
    case 'deflate':
      return new Inflate()
    case 'br':
      return createBrotliDecompress()
    default:
      return undefined
  }
}

/** The low half of the first byte of zlib's header names its method, deflate. No encoder begins raw deflate with it. */
const ZLIB_METHOD = 8

/** Deflate is zlib (RFC 9110, 8.4.1.2), but some clients send it without zlib's header. The first byte shows which. */
class Inflate extends Transform {
  private inner: Transform | undefined

  override _transform(chunk: Buffer, encoding: BufferEncoding, done: TransformCallback): void {
    this.inner ??= this.begun(chunk)
    this.inner.write(chunk, encoding, () => done())
  }

  override _flush(done: TransformCallback): void {
    const inner = (this.inner ??= this.begun(Buffer.alloc(1)))
    inner.once('end', () => done())
    inner.end()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.inner?.destroy()
    done(error)
  }

  private begun(chunk: Buffer): Transform {
    const inner = (chunk[0]! & 0x0f) === ZLIB_METHOD ? createInflate() : createInflateRaw()
    inner.on('data', (bytes: Buffer) => void this.push(bytes))
    inner.on('error', (error) => this.destroy(error))
    return inner
  }
}
