import { Agent, request } from 'node:http'

/** A load of `/call/upsert_batch`, in a process of its own: batches of 500, each call's start and end. */

const { ADDRESS, KEY, SECONDS, CONNECTIONS } = process.env as Record<string, string>
const agent = new Agent({ keepAlive: true, maxSockets: Number(CONNECTIONS) })
const CALLS = 250
const text = 'The quick brown fox jumps over the lazy dog, again and again, until the log is full. '.repeat(3)

let next = 0
const batch = (): string => {
  const items: string[] = []
  const trace = `t-${process.pid}-${next}`
  for (let i = 0; i < CALLS; i += 1) {
    const id = `0193a000-${process.pid.toString(16).padStart(4, '0')}-7000-8000-${(next++).toString(16).padStart(12, '0')}`
    const parent = i === 0 ? '' : `"parent_id":"p-${trace}",`
    items.push(
      `{"mode":"start","req":{"start":{"project_id":"bench/batches","id":"${id}","op_name":"weave:///bench/batches/op/answer:abcdefghijklmnopqrstuvwxyz","trace_id":"${trace}",${parent}"started_at":"2026-01-01T00:00:00.123Z","attributes":{"weave":{"client_version":"0.11.1","source":"js-sdk"}},"inputs":{"messages":[{"role":"user","content":"${text}"}]}}}}`,
      `{"mode":"end","req":{"end":{"project_id":"bench/batches","id":"${id}","ended_at":"2026-01-01T00:00:01.456Z","output":{"choices":[{"message":{"role":"assistant","content":"${text}"}}]},"summary":{"usage":{"gpt-4o":{"requests":1,"prompt_tokens":123,"completion_tokens":45,"total_tokens":168}}}}}}`,
    )
  }
  return `{"batch":[${items.join(',')}]}`
}

const send = (body: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const sending = request(
      `${ADDRESS}/call/upsert_batch`,
      {
        method: 'POST',
        agent,
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${KEY}`,
          'content-length': Buffer.byteLength(body),
        },
      },
      (response) => {
        response.resume()
        response.on('end', () =>
          response.statusCode === 200 && response.headers['tallytree-refused'] === undefined
            ? resolve(String(response.headers['tallytree-position']))
            : reject(new Error(`answered ${response.statusCode}`)),
        )
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
      position = await send(batch())
      acknowledged += CALLS
    }
  }),
)
console.log(JSON.stringify({ acknowledged, position, seconds: (performance.now() - begin) / 1000 }))
process.exit(0)
