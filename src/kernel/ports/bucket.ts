import type { BlobRange, DirectBlobs } from './blobs.js'
import { OperatorError } from './operator-error.js'

export interface BucketEntry {
  readonly key: string
  readonly size: number
  readonly modified: Date
}

/**
 * Objects of a store that speaks S3. Keys are relative to the prefix of the bucket's address. All writes are durable when
 * they resolve. Those for a team use its share of the requests. Throws {@link BucketUnavailable}.
 */
export interface Bucket {
  /** `sha256` of the content, in hexadecimal. */
  put(key: string, content: Uint8Array, sha256: string, team?: string): Promise<void>
  /** False, without a change, if there is an object with this key. */
  create(key: string, content: Uint8Array): Promise<boolean>
  /** False, without a change, if the object is missing or changed meanwhile, or if `change` has nothing for it. */
  replace(
    key: string,
    change: (content: Uint8Array) => Uint8Array | undefined | Promise<Uint8Array | undefined>,
  ): Promise<boolean>
  /** Of parts of the same size, except the last one. Rejects with the error of the source; then nothing is stored. */
  upload(key: string, parts: AsyncIterable<Uint8Array>, team?: string): Promise<void>
  /** In the store. `size` in bytes. */
  copy(from: string, to: string, size: number, team?: string): Promise<void>
  /** Undefined if there is no such object. */
  get(key: string): Promise<Uint8Array | undefined>
  /** In bytes; undefined if there is no such object. */
  size(key: string): Promise<number | undefined>
  /** Asked for when the iteration starts; nothing past the end of the object. */
  read(key: string, range?: BlobRange): AsyncIterable<Uint8Array>
  /** Keys with this start that sort after `after`, in order of their bytes. */
  list(start: string, after?: string): AsyncIterable<BucketEntry>
  /** Also earlier versions of the object, if the bucket keeps them. */
  delete(key: string): Promise<void>
  /** Blobs below this start of their keys; undefined without an address of the store for clients. */
  readonly direct: ((start: string) => DirectBlobs) | undefined
  /** Whether the store refuses content that differs from the header Content-MD5. */
  comparesMd5(key: string): Promise<boolean>
  close(): void
}

/** The store cannot be used at present. The message also names the bucket and its host, which clients are not told. */
export class BucketUnavailable extends OperatorError {
  override readonly name = 'BucketUnavailable'
  constructor(
    readonly reason: string,
    options?: ErrorOptions & { readonly where?: string },
  ) {
    super(options?.where === undefined ? reason : `${options.where} failed: ${reason}`, options)
  }
}
