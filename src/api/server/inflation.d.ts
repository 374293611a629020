declare module 'inflation' {
  import type { IncomingMessage } from 'node:http'
  import type { Readable } from 'node:stream'

  /** The request, decompressed; throws for an encoding it does not know. */
  export default function inflate(request: IncomingMessage, options: { encoding: string }): Readable
}
