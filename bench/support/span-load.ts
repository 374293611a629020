import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { spansRequest } from './spans-request.js'

/** A load of spans or of calls with the same content, in a process of its own: 256 in a request. */

const { ADDRESS, KEY, SECONDS, CONNECTIONS, KIND } = process.env as Record<string, string>
const agent = new Agent({ keepAlive: true, maxSockets: Number(CONNECTIONS) })
const AT_ONCE = 256
const TEXT = 'The quick brown fox jumps over the lazy dog, again and again, until the log is full. '.repeat(
  13,
)

const spans = (): Buffer => spansRequest(AT_ONCE, TEXT)

const calls = (): Buffer => {
  const trace = randomBytes(16).toString('hex')
  const items: string[] = []
  for (let i = 0; i < AT_ONCE; i += 1) {
    const id = randomBytes(16).toString('hex')
    items.push(
      `{"mode":"start","req":{"start":{"project_id":"bench/calls","id":"${id}","op_name":"chat gpt-4o","trace_id":"${trace}","started_at":"2026-01-01T00:00:00.123Z","attributes":{"kind":"model","model":"gpt-4o","provider":"openai"},"inputs":{"messages":[{"role":"user","content":"${TEXT}"}]}}}}`,
      `{"mode":"end","req":{"end":{"project_id":"bench/calls","id":"${id}","ended_at":"2026-01-01T00:00:01.456Z","output":{"role":"assistant","content":"${TEXT}"},"summary":{"usage":{"gpt-4o":{"requests":1,"prompt_tokens":123,"completion_tokens":45,"total_tokens":168}}}}}}`,
    )
  }
  return Buffer.from(`{"batch":[${items.join(',')}]}`)
}

const [make, path, type] =
  KIND === 'spans'
    ? ([spans, '/v2/bench/spans/otel/v1/traces', 'application/x-protobuf'] as const)
    : ([calls, '/call/upsert_batch', 'application/json'] as const)

const send = (body: Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const sending = request(
      `${ADDRESS}${path}`,
      {
        method: 'POST',
        agent,
        headers: { 'content-type': type, authorization: `Bearer ${KEY}`, 'content-length': body.length },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const isWhole = KIND === 'spans' ? chunks.length === 0 : true
          if (response.statusCode === 200 && isWhole) resolve(String(response.headers['tallytree-position']))
          else reject(new Error(`answered ${response.statusCode} ${Buffer.concat(chunks).toString()}`))
        })
      },
    )
    sending.on('error', reject)
    sending.end(body)
  })

const begin = performance.now()
const until = begin + Number(SECONDS) * 1000
let acknowledged = 0
let position = '0'
await Promise.all(
  Array.from({ length: Number(CONNECTIONS) }, async () => {
    while (performance.now() < until) {
      position = await send(make())
      acknowledged += AT_ONCE
    }
  }),
)
console.log(JSON.stringify({ acknowledged, position, seconds: (performance.now() - begin) / 1000 }))
process.exit(0)
