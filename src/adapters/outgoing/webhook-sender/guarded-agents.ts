import { Agent as HttpAgent, type AgentOptions } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Duplex } from 'node:stream'
import type { GuardedConnect } from '../guard/guarded-connect.js'
import type { RequestProgress } from '../guard/request-progress.js'
import type { Target } from '../guard/target.js'

/** The request option with the connection's context. */
export const ERRAND: unique symbol = Symbol('errand')

interface Errand {
  readonly target: Target
  readonly progress: RequestProgress
}

export interface ErrandOption {
  readonly [ERRAND]: Errand
}

export interface GuardedAgents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
  /** Connections of this target are not reused. */
  readonly distrust: (target: Target) => void
}

/** Shorter than the idle time-out of most receivers, so that no message meets a closing connection. */
const IDLE_MS = 1000
/** A connection is not reused after this, so that the name is resolved again. */
const MOST_AGE_MS = 30_000
const MOST_DISTRUSTED = 1000

const OPTIONS: AgentOptions = { keepAlive: true, maxFreeSockets: 16, timeout: IDLE_MS }

/** Agents whose connections were checked when they were opened. */
export const guardedAgents = (connect: GuardedConnect): GuardedAgents => {
  const bornAt = new WeakMap<Duplex, { readonly target: string; readonly at: number }>()
  const distrusted = new Set<string>()

  const guarded = <A extends HttpAgent>(agent: A): A => {
    agent.createConnection = (options, done) => {
      const { target, progress } = (options as ErrandOption)[ERRAND]
      connect(target, progress).then(
        (socket) => {
          bornAt.set(socket, { target: nameOf(target), at: performance.now() })
          done!(null, socket)
        },
        (error: unknown) => (done as (error: unknown) => void)(error),
      )
      return undefined
    }
    const keep = agent.keepSocketAlive.bind(agent)
    agent.keepSocketAlive = (socket) => {
      const born = bornAt.get(socket)
      const mayStay =
        born !== undefined && performance.now() - born.at < MOST_AGE_MS && !distrusted.has(born.target)
      return mayStay && keep(socket)
    }
    return agent
  }

  return {
    http: guarded(new HttpAgent(OPTIONS)),
    https: guarded(new HttpsAgent(OPTIONS)),
    distrust: (target) => {
      distrusted.add(nameOf(target))
      if (distrusted.size > MOST_DISTRUSTED) distrusted.delete(distrusted.values().next().value!)
    },
  }
}

const nameOf = ({ host, port }: Target): string => `${host}:${port}`
