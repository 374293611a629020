import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** What goes wrong between the service and its ClickHouse. */
export type Fault =
  | { readonly kind: 'none' }
  /** Connections are refused. */
  | { readonly kind: 'away' }
  /** Connections are taken, and never answered; when that ends, they are cut. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'late'; readonly milliseconds: number }
  /** Every request is answered with this, and not passed on. */
  | {
      readonly kind: 'answering'
      readonly status: number
      readonly body: string
      readonly headers?: Record<string, string>
    }
  /** Of an insert, half its body arrives; then both sides are cut. */
  | { readonly kind: 'cut inserts' }
  /** Of an insert, half its body arrives as if that were all; the answer to it is passed back. */
  | { readonly kind: 'shortened inserts' }
  /** An insert arrives and is done; its answer does not come back. */
  | { readonly kind: 'lost answers' }
  /** Of an answer to a read, half comes back before the connection is cut. */
  | { readonly kind: 'cut answers' }

export interface FaultyProxy {
  readonly url: string
  readonly have: (fault: Fault) => Promise<void>
  /** Requests other than the question whether somebody is there, as they came. */
  readonly asked: () => number
  readonly stop: () => Promise<void>
}

/** Stands in front of an HTTP server and has one fault at a time. */
export const startFaultyProxy = async (target: string): Promise<FaultyProxy> => {
  const agent = new Agent({ keepAlive: true })
  let fault: Fault = { kind: 'none' }
  let asked = 0

  const passOn = async (from: IncomingMessage, body: Buffer): Promise<IncomingMessage> => {
    const { 'content-length': _, 'transfer-encoding': __, ...headers } = from.headers
    const passed = request(new URL(from.url!, target), { agent, method: from.method!, headers })
    passed.end(body)
    const [answer] = (await once(passed, 'response')) as [IncomingMessage]
    return answer
  }

  const cutHalfWay = async (from: IncomingMessage, body: Buffer): Promise<void> => {
    const passed = request(new URL(from.url!, target), { method: from.method!, headers: from.headers })
    passed.on('error', () => undefined)
    passed.write(half(body))
    await sleep(20)
    passed.destroy()
    from.socket.destroy()
  }

  const meet = async (from: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const met = fault
    const isInsert = (new URL(from.url!, target).searchParams.get('query') ?? '').startsWith('INSERT')
    if (!from.url!.startsWith('/ping')) asked += 1
    if (met.kind === 'silent') return
    const body = await buffer(from)
    if (met.kind === 'late') await sleep(met.milliseconds)
    if (met.kind === 'answering') return void answer.writeHead(met.status, met.headers).end(met.body)
    if (met.kind === 'cut inserts' && isInsert) return cutHalfWay(from, body)
    const isShort = met.kind === 'shortened inserts' && isInsert
    const answered = await passOn(from, isShort ? half(body) : body)
    if (met.kind === 'lost answers' && isInsert) {
      answered.resume()
      return void from.socket.destroy()
    }
    answer.writeHead(answered.statusCode!, answered.rawHeaders)
    if (met.kind !== 'cut answers' || isInsert) return void answered.pipe(answer)
    const whole = await buffer(answered)
    answer.write(half(whole), () => from.socket.destroy())
  }

  const server = createServer({ maxHeaderSize: 1024 * 1024 }, (from, answer) => {
    from.on('error', () => undefined)
    answer.on('error', () => undefined)
    void meet(from, answer).catch(() => from.socket.destroy())
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const close = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  await listen(0)
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}`,
    have: async (next) => {
      const before = fault.kind
      fault = next
      if (before === 'silent') server.closeAllConnections()
      if (next.kind === 'away') await close()
      else if (!server.listening) await listen(port)
    },
    asked: () => asked,
    stop: async () => {
      await close()
      agent.destroy()
    },
  }
}

const half = (bytes: Buffer): Buffer => bytes.subarray(0, Math.floor(bytes.length / 2))
