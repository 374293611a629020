/** Signs texts, such as the content of a link, so that this service or another process of it recognises them later. */
export interface Signer {
  readonly sign: (text: string) => string
  readonly verify: (text: string, signature: string) => boolean
}
