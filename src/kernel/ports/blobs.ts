/**
 * Content-addressed bytes. A digest is the SHA-256 of the content in lower-case hexadecimal. Throws {@link
 * BlobsUnavailable} when the store fails, and {@link BlobDamaged} for content that differs from its digest.
 */
export interface BlobStore {
  /** Durable (fsynced) when it resolves. Equal content is stored once. A bucket's requests are shared among teams. */
  put(content: Uint8Array, team?: string): Promise<string>
  /**
   * As `put`, for a stream. Rejects with {@link BlobTooLarge} as soon as the source exceeds `limitBytes`, or with the
   * source's own error; in both cases nothing is stored.
   */
  putStream(source: AsyncIterable<Uint8Array>, limitBytes: number, team?: string): Promise<StoredBlob>
  /** Undefined if there is no such blob. */
  get(digest: string): Promise<Uint8Array | undefined>
  /**
   * As `get`, as a stream: reads lazily, and releases the file when iteration stops early. Undefined if there is no
   * such blob. `range` is within the content. The last chunk is only given once the digest was found to be right, except
   * for a range of a large blob, which is not checked.
   */
  open(digest: string, range?: BlobRange): Promise<OpenedBlob | undefined>
}

/** Bytes from `start` to before `end`. */
export interface BlobRange {
  readonly start: number
  readonly end: number
}

export interface OpenedBlob {
  /** Of the whole content, in bytes. */
  readonly size: number
  readonly chunks: AsyncIterable<Uint8Array>
}

export interface StoredBlob {
  readonly digest: string
  /** In bytes. */
  readonly size: number
}

/** The disk is full or failing. Nothing was stored. */
export class BlobsUnavailable extends Error {
  override readonly name = 'BlobsUnavailable'
}

/** A blob does not have the content of its digest: it was changed or cut after it was stored. */
export class BlobDamaged extends Error {
  override readonly name = 'BlobDamaged'
  constructor(digest: string, others = 0, problem = 'differs from its digest') {
    super(
      `the stored content ${digest} ${others === 0 ? '' : `and ${others} more `}${problem}; ` +
        'restore the file in blobs/ from a backup, or store the same content again',
    )
  }
}

/** The log references a blob that the store does not have. */
export class BlobMissing extends BlobDamaged {
  constructor(digest: string) {
    super(digest, 0, 'is missing')
  }
}

/** The content exceeds the limit given by the writer. */
export class BlobTooLarge extends Error {
  override readonly name = 'BlobTooLarge'
  constructor(readonly limitBytes: number) {
    super(`the content exceeds the limit of ${limitBytes} bytes`)
  }
}
