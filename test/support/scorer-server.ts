import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json, JsonObject } from '../../src/kernel/json/json.js'

interface PostedRow {
  /** The id of the score's call, the same in every attempt. */
  readonly id: string
  /** Marked as a possible duplicate. */
  readonly isRepeat: boolean
}

export interface ScorerServer {
  readonly url: string
  /** In the order of arrival; noted before the answer. */
  readonly posted: PostedRow[]
  readonly stop: () => void
}

/** An HTTP scorer on a loopback address. */
export const startScorerServer = async (
  scoreOf: (scorerArguments: JsonObject) => Json,
): Promise<ScorerServer> => {
  const posted: PostedRow[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { headers } = request
      posted.push({
        id: String(headers['webhook-id']),
        isRepeat: headers['x-vendor-possible-duplicate'] === 'true',
      })
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { readonly arguments: JsonObject }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ score: scoreOf(body.arguments) }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/score`, posted, stop: () => void server.close() }
}
