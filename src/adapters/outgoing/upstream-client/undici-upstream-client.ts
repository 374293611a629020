import { Agent, errors, type Dispatcher } from 'undici'
import {
  UpstreamFault,
  type FaultKind,
  type UpstreamAnswer,
  type UpstreamClient,
  type UpstreamRequest,
} from '../../../domain/ports/upstream-client.js'

const IDLE_MS = 4000

/** Completions by HTTP: connections are kept and used again, one request at a time. */
export const undiciUpstreamClient = (): UpstreamClient => {
  const agents = new Map<number, Agent>()

  /** How long connecting may take is a matter of the agent. */
  const agentFor = (connectMs: number): Agent => {
    const known = agents.get(connectMs)
    if (known !== undefined) return known
    const agent = new Agent({
      connect: { timeout: connectMs },
      keepAliveTimeout: IDLE_MS,
      pipelining: 1,
    })
    agents.set(connectMs, agent)
    return agent
  }

  return {
    post: async ({ url, headers, body, timeouts }: UpstreamRequest, signal) => {
      const { origin, pathname, search } = new URL(url)
      const total = AbortSignal.timeout(timeouts.total_ms)
      const faultOf = (error: unknown): UpstreamFault =>
        total.aborted && !signal.aborted
          ? new UpstreamFault('timeout', 'total', { cause: error })
          : faultFrom(error)
      try {
        const answer = await agentFor(timeouts.connect_ms).request({
          origin,
          path: pathname + search,
          method: 'POST',
          headers,
          body,
          headersTimeout: timeouts.first_byte_ms,
          bodyTimeout: timeouts.idle_ms,
          signal: AbortSignal.any([signal, total]),
        })
        return {
          status: answer.statusCode,
          headers: headersOf(answer),
          body: readingOf(answer.body, faultOf),
        } satisfies UpstreamAnswer
      } catch (error) {
        throw faultOf(error)
      }
    },
    close: async () => {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()))
    },
  }
}

const headersOf = ({ headers }: Dispatcher.ResponseData): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )

async function* readingOf(
  body: Dispatcher.ResponseData['body'],
  faultOf: (error: unknown) => UpstreamFault,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body) yield piece as Uint8Array
  } catch (error) {
    throw faultOf(error)
  } finally {
    body.destroy()
  }
}

const faultFrom = (error: unknown): UpstreamFault => {
  const { name, code = name } = error as NodeJS.ErrnoException
  return new UpstreamFault(...kindAndCode(error, code), { cause: error })
}

const kindAndCode = (error: unknown, code: string): [FaultKind, string] => {
  if (error instanceof errors.ConnectTimeoutError) return ['timeout', 'connect']
  if (error instanceof errors.HeadersTimeoutError) return ['timeout', 'first byte']
  if (error instanceof errors.BodyTimeoutError) return ['timeout', 'idle']
  if (error instanceof errors.RequestAbortedError || code === 'AbortError' || code === 'ABORT_ERR')
    return ['aborted', 'by the client']
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ['dns', code]
  if (code === 'ECONNREFUSED' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return ['connect', code]
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET') return ['reset', code]
  if (/CERT|TLS|SSL|SELF_SIGNED/.test(code)) return ['tls', code]
  return ['protocol', code]
}
