import { Agent, Pool, type Dispatcher } from 'undici'
import { UpstreamFault, type UpstreamClient } from '../../../domain/gateway/upstreams/upstream-client.js'
import { guardedConnector, trustedConnector, type Connector, type Guarding } from './connecting.js'
import { Connection, EXCHANGE } from './connection.js'
import { Exchange } from './exchange.js'

/** Shorter than servers of the field keep theirs, and at most a minute where one says how long it does. */
const IDLE_MS = 3000
const MOST_IDLE_MS = 60_000
const BEFORE_THEIRS_MS = 2000

/** Completions by HTTP: connections are kept and used again, one request at a time. */
export const undiciUpstreamClient = (guarding: Guarding = {}): UpstreamClient => {
  const closing = new AbortController()
  const trusted = agents(trustedConnector(guarding))
  const guarded = agents(guardedConnector(guarding, closing.signal))

  return {
    ask: ({ url, headers, body, timeouts, isGuarded, isFresh }, signal) => {
      const exchange = new Exchange(timeouts, signal)
      if (exchange.isOver) return exchange.answered
      const agent = (isGuarded ? guarded : trusted)[isFresh ? 'fresh' : 'kept']
      try {
        const { origin, pathname, search } = new URL(url)
        const method = body === null ? 'GET' : 'POST'
        const options: Dispatcher.DispatchOptions & { [EXCHANGE]: Exchange } = {
          [EXCHANGE]: exchange,
          origin,
          path: pathname + search,
          method,
          headers,
          body,
        }
        agent.dispatch(options, exchange)
      } catch (error) {
        exchange.onResponseError(undefined, error as Error)
      }
      return exchange.answered
    },
    close: async () => {
      closing.abort()
      const closed = new UpstreamFault('aborted', 'by the service')
      await Promise.all(
        [trusted, guarded].flatMap(({ kept, fresh }) => [kept.destroy(closed), fresh.destroy(closed)]),
      )
    },
  }
}

/** Time-outs are the exchange's, which counts them exactly; undici's own are off. */
const agents = (connect: Connector) => {
  const poolOf = (origin: string | URL, options: object): Pool =>
    new Pool(origin, { ...options, factory: (one, given) => new Connection(one, { ...given, connect }) })
  const options = { factory: poolOf, headersTimeout: 0, bodyTimeout: 0 }
  return {
    kept: new Agent({
      ...options,
      pipelining: 1,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: MOST_IDLE_MS,
      keepAliveTimeoutThreshold: BEFORE_THEIRS_MS,
    }),
    fresh: new Agent({ ...options, pipelining: 0 }),
  }
}
