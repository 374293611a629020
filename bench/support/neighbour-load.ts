import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** One member's load, LOAD, in a process of its own. It runs until it is killed, and never fails. */

const { ADDRESS, KEY, LOAD } = process.env as Record<string, string>
const project_id = 'noisy/p'
const agent = new Agent({ keepAlive: true, maxSockets: 1000 })
const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` }

/** Sends a body and reads the answer to its end; resolves in any case. */
const send = (path: string, body: string): Promise<void> =>
  new Promise((resolve) => {
    const sending = request(`${ADDRESS}${path}`, { method: 'POST', agent, headers }, (answer) => {
      answer.resume()
      answer.on('close', resolve)
    })
    sending.on('error', () => resolve())
    sending.end(body)
  })

const repeatedly = (clients: number, task: () => Promise<unknown>): void => {
  const repeat = async (): Promise<never> => {
    for (;;) await task()
  }
  for (let client = 0; client < clients; client += 1) void repeat()
}

let next = 0
const start = (inputs: object) => {
  const id = `${process.pid}-${next++}`
  return {
    start: {
      project_id,
      id,
      trace_id: id,
      op_name: 'op',
      started_at: '2026-01-01T00:00:00Z',
      attributes: {},
      inputs,
    },
  }
}

const LOADS: Readonly<Record<string, () => void>> = {
  'slow connections': () => {
    const drip = () =>
      new Promise((resolve) => {
        const sending = request(`${ADDRESS}/call/start`, {
          method: 'POST',
          headers: { ...headers, 'content-length': 100_000 },
        })
        const timer = setInterval(() => sending.write(' '), 1000)
        sending.on('error', () => undefined)
        sending.on('close', () => {
          clearInterval(timer)
          resolve(sleep(1000))
        })
      })
    repeatedly(200, drip)
  },
  'bodies of 20 MB': () => {
    const body = JSON.stringify(start({ text: 'x'.repeat(20_000_000) }))
    repeatedly(32, () => send('/call/start', body))
  },
  'small writes': () => repeatedly(64, () => send('/call/start', JSON.stringify(start({ n: next })))),
  '$contains over everything': () => {
    const condition = { $contains: { input: { $getField: 'inputs' }, substr: { $literal: `no ${next}` } } }
    repeatedly(32, () =>
      send('/calls/query', JSON.stringify({ project_id, query: { $expr: condition }, limit: 10 })),
    )
  },
  'alias bombs': () => {
    const aliases = Array.from(
      { length: 1000 },
      (_, n) =>
        `a${n}: project(name: "p", entityName: "noisy") { runs(first: 50) { totalCount edges { node { name config } } } }`,
    )
    repeatedly(16, () => send('/graphql', JSON.stringify({ query: `{ ${aliases.join(' ')} }` })))
  },
  exports: () => repeatedly(100, () => send('/calls/stream_query', JSON.stringify({ project_id }))),
  streams: () => {
    const body = JSON.stringify({
      model: 'acme/fast',
      stream: true,
      messages: [{ role: 'user', content: 'Count to fifty.' }],
    })
    repeatedly(500, () => send('/v1/chat/completions', body))
  },
}

LOADS[LOAD!]!()
console.log('http://loading')
