import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** The project of the calls, and that of the completions. */
export const LOADED = 'noisy/p'
export const COMPLETED = 'noisy/completions'

export interface LoadedService {
  readonly address: string
  /** Of a member of the team of {@link LOADED}. */
  readonly key: string
  /** Notes the id of a call that was acknowledged, or the `user` of a completion whose answer was whole. */
  readonly done: (id: string) => void
}

/** The loads of one member. Each runs until its process is killed, and never fails. */
export const LOADS: Readonly<Record<string, (service: LoadedService) => void>> = {
  'slow connections': (service) => {
    const headers = { ...headersOf(service), 'content-length': 100_000 }
    const drip = () =>
      new Promise((resolve) => {
        const sending = request(`${service.address}/call/start`, { method: 'POST', headers })
        const timer = setInterval(() => sending.write(' '), 1000)
        sending.on('error', () => undefined)
        sending.on('close', () => {
          clearInterval(timer)
          resolve(sleep(1000))
        })
      })
    repeatedly(200, drip)
  },
  'bodies of 20 MB': (service) => startsCalls(service, 32, 'x'.repeat(20_000_000)),
  'small writes': (service) => startsCalls(service, 64, 'x'),
  '$contains over everything': (service) => {
    const send = senderTo(service)
    let next = 0
    const condition = () => ({
      $contains: { input: { $getField: 'inputs' }, substr: { $literal: `no ${next++}` } },
    })
    repeatedly(32, () =>
      send('/calls/query', JSON.stringify({ project_id: LOADED, query: { $expr: condition() }, limit: 10 })),
    )
  },
  'alias bombs': (service) => {
    const aliases = Array.from(
      { length: 1000 },
      (_, n) =>
        `a${n}: project(name: "p", entityName: "noisy") { runs(first: 50) { totalCount edges { node { name config } } } }`,
    )
    const send = senderTo(service)
    repeatedly(16, () => send('/graphql', JSON.stringify({ query: `{ ${aliases.join(' ')} }` })))
  },
  exports: (service) => {
    const send = senderTo(service)
    repeatedly(100, () => send('/calls/stream_query', JSON.stringify({ project_id: LOADED })))
  },
  streams: (service) => {
    const send = senderTo(service)
    const nextUser = ids()
    repeatedly(500, async () => {
      const user = nextUser()
      const messages = [{ role: 'user', content: 'Count to fifty.' }]
      const { end } = await send(
        '/v1/chat/completions',
        JSON.stringify({ model: 'acme/fast', stream: true, user, messages }),
      )
      if (end.endsWith('data: [DONE]\n\n')) service.done(user)
    })
  },
}

const repeatedly = (clients: number, task: () => Promise<unknown>): void => {
  const repeat = async (): Promise<never> => {
    for (;;) await task()
  }
  for (let client = 0; client < clients; client += 1) void repeat()
}

const startsCalls = (service: LoadedService, clients: number, text: string): void => {
  const send = senderTo(service)
  const nextId = ids()
  // A large text is made JSON once.
  const inputs = JSON.stringify({ text })
  repeatedly(clients, async () => {
    const id = nextId()
    const head = JSON.stringify({ project_id: LOADED, id, trace_id: id, op_name: 'op' }).slice(0, -1)
    const start = `${head},"started_at":"2026-01-01T00:00:00Z","attributes":{},"inputs":${inputs}}`
    const { status } = await send('/call/start', `{"start":${start}}`)
    if (status === 200) service.done(id)
  })
}

const ids = (): (() => string) => {
  let next = 0
  return () => `${process.pid}-${next++}`
}

const headersOf = ({ key }: LoadedService) => ({
  'content-type': 'application/json',
  authorization: `Bearer ${key}`,
  'openai-project': COMPLETED,
})

interface Ended {
  /** Undefined if the answer broke off. */
  readonly status: number | undefined
  /** The last piece of the body. */
  readonly end: string
}

/** Sends a body and reads the answer to its end; resolves in any case. */
const senderTo = (service: LoadedService): ((path: string, body: string) => Promise<Ended>) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1000 })
  const headers = headersOf(service)
  return (path, body) =>
    new Promise((resolve) => {
      const options = { method: 'POST', agent, headers }
      const sending = request(`${service.address}${path}`, options, (answer) => {
        let last: Buffer | undefined
        answer.on('data', (piece: Buffer) => (last = piece))
        answer.on('close', () =>
          resolve({ status: answer.complete ? answer.statusCode : undefined, end: last?.toString() ?? '' }),
        )
      })
      // A service that is not there is asked again later.
      sending.on('error', () => setTimeout(() => resolve({ status: undefined, end: '' }), 100))
      sending.end(body)
    })
}
