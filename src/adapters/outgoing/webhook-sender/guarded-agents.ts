import { Agent as HttpAgent, type AgentOptions } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Duplex } from 'node:stream'
import type { GuardedConnect } from '../guard/guarded-connect.js'
import type { Sending } from '../guard/sending.js'
import type { Target } from '../guard/target.js'

/** The option of a request under which its agent finds what it is sent for. */
export const ERRAND: unique symbol = Symbol('errand')

interface Errand {
  readonly target: Target
  readonly sending: Sending
}

export interface ErrandOption {
  readonly [ERRAND]: Errand
}

export interface GuardedAgents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
  /** Connections of this target are not to be used a second time. */
  readonly distrust: (target: Target) => void
}

/** An idle connection is closed before most receivers would: a message must not meet one that is just closing. */
const IDLE_MS = 1000
/** After which a name is looked up again, however busy its connections are. */
const MOST_AGE_MS = 30_000
const MOST_DISTRUSTED = 1000

const OPTIONS: AgentOptions = { keepAlive: true, maxFreeSockets: 16, timeout: IDLE_MS }

/** Agents whose every connection was guarded when it was made; one that is used again goes where it went before. */
export const guardedAgents = (connect: GuardedConnect): GuardedAgents => {
  const bornAt = new WeakMap<Duplex, { readonly target: string; readonly at: number }>()
  const distrusted = new Set<string>()

  const guarded = <A extends HttpAgent>(agent: A): A => {
    agent.createConnection = (options, done) => {
      const { target, sending } = (options as unknown as ErrandOption)[ERRAND]
      connect(target, sending).then(
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
