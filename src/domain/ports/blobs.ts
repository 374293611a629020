/** Content-addressed bytes. A digest is the lower-case hexadecimal SHA-256 of the content. */
export interface BlobStore {
  /** Durable (fsynced) when it resolves. The same content twice is one blob. */
  put(content: Uint8Array): Promise<string>
  /** `undefined` when there is no such blob. */
  get(digest: string): Promise<Uint8Array | undefined>
}
