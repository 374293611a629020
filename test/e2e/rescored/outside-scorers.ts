import assert from 'node:assert/strict'
import { createHmac, hkdfSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { saying, usageOf } from '../../support/upstreams/behaviours.js'
import { startUpstream, type Behaviour, type ScriptedUpstream } from '../../support/upstreams/upstream.js'
import type { SdkService } from '../sdk-service.js'
import { hasAnO, verdictOn } from './expected-scores.js'

export const JUDGE_MODEL = 'acme/judge'
export const JUDGE_PROMPT = 'The capital of {country} is {capital}. The answer was {output}. Reply in JSON.'
const SCORER_SECRET = 'a secret of the scorer'
const SCORER_KEY = new Uint8Array(hkdfSync('sha256', SCORER_SECRET, '', 'tallytree http-scorer v1', 32))
/** The column map of each scorer but the HTTP scorer, which is posted all columns. */
export const COLUMNS = { output: 'output.text', target: 'capital' }
export const JUDGE_USAGE = usageOf(20, 5)
export interface OutsideScorers {
  readonly url: string
  readonly upstream: ScriptedUpstream
  readonly posted: readonly PostedRow[]
  readonly stop: () => Promise<void>
}

interface PostedRow {
  readonly id: string
  readonly isSigned: boolean
  readonly body: JsonObject & {
    readonly arguments: JsonObject & { readonly output: { readonly text: string } }
  }
}

/** An HTTP scorer and an upstream with the model of the judge, both on loopback. */
export const startOutsideScorers = async (): Promise<OutsideScorers> => {
  const upstream = await startUpstream(judging)
  const posted: PostedRow[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const body = JSON.parse(text) as PostedRow['body']
      const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = request.headers
      const hmac = createHmac('sha256', SCORER_KEY).update(`${String(id)}.${String(at)}.${text}`)
      posted.push({ id: String(id), isSigned: signature === `v1,${hmac.digest('base64')}`, body })
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ score: hasAnO(body.arguments.output.text) }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/score`,
    upstream,
    posted,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await upstream.close()
    },
  }
}

const judging: Behaviour = (body, response, request) => {
  const prompt = (body['messages'] as readonly { readonly content: string }[]).at(-1)!.content
  const found = /^The capital of \w+ is (\w+)\. The answer was (\w+)\. Reply in JSON\.$/.exec(prompt)
  assert.ok(found !== null, `the judge was asked ${prompt}`)
  return saying([JSON.stringify(verdictOn(found[2]!, found[1]!))], JUDGE_USAGE)(body, response, request)
}

/** What the service must be started with, and told before the rescore. */
export const OUTSIDE_ALLOWED = {
  TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8',
  TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
}

export const introduce = async (sdk: SdkService, { upstream }: OutsideScorers): Promise<void> => {
  await sdk.answered('/api/inference/upstreams', {
    name: 'judges',
    base_url: upstream.baseUrl,
    models: [{ id: JUDGE_MODEL, upstream_id: 'judge-1' }],
  })
  const secret = await sdk.service.send('PUT', '/api/teams/team/secrets/SCORER', {
    value: SCORER_SECRET,
    used_for: ['scorers'],
  })
  assert.ok(secret.status < 300, secret.text)
}
