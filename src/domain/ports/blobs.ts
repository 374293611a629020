/**
 * Content-addressed bytes. A digest is the lower-case hexadecimal SHA-256 of the content. Whatever the store cannot do now
 * is a {@link BlobsUnavailable}.
 */
export interface BlobStore {
  /** Durable (fsynced) when it resolves. The same content twice is one blob. */
  put(content: Uint8Array): Promise<string>
  /**
   * As `put`, for content of unknown length that is never held as a whole. Rejects with {@link BlobTooLarge} as
   * soon as the source has given more than `limitBytes`, and with the source's own error if that fails; either
   * way nothing is kept.
   */
  putStream(source: AsyncIterable<Uint8Array>, limitBytes: number): Promise<StoredBlob>
  /** `undefined` when there is no such blob. */
  get(digest: string): Promise<Uint8Array | undefined>
  /**
   * As `get`, for content that is not to be held as a whole: nothing is read before `chunks` is iterated, and what is
   * read no further is let go. `undefined` when there is no such blob.
   */
  open(digest: string): Promise<OpenedBlob | undefined>
}

export interface OpenedBlob {
  /** Bytes. */
  readonly size: number
  readonly chunks: AsyncIterable<Uint8Array>
}

export interface StoredBlob {
  readonly digest: string
  /** Bytes. */
  readonly size: number
}

/** The store cannot be used now: no space is left, or its disk fails. Nothing was kept. */
export class BlobsUnavailable extends Error {
  override readonly name = 'BlobsUnavailable'
}

/** The content is over the limit its writer gave. */
export class BlobTooLarge extends Error {
  override readonly name = 'BlobTooLarge'
  constructor(readonly limitBytes: number) {
    super(`the content exceeds the limit of ${limitBytes} bytes`)
  }
}
