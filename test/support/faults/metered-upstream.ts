import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { eventText, scriptOf, type Turn } from '../upstreams/counting-upstream.js'
import { startUpstream, type Behaviour, type ScriptedUpstream } from '../upstreams/upstream.js'

/** What the upstream knows of one request: what it said that it used, once it had said all of it. */
export interface Served {
  readonly usage: { readonly prompt: number; readonly completion: number }
  completed: boolean
  reported: boolean
}

export interface MeteredUpstream {
  readonly baseUrl: string
  /** By the user, whose name is in the text of the request. */
  readonly served: ReadonlyMap<string, Served>
  readonly close: ScriptedUpstream['close']
}

/** The name of a user. */
const USER = /r\d+-\d+/

const turnOf = (prompt: number, completion: number): Turn => ({
  tokens: { fresh: prompt, read: 0, written: 0, writtenForHour: 0, text: completion, reasoning: 0 },
  ...{ isPriority: false, stream: true, hasReasoning: false, hasCall: false, faults: [], end: 'complete' },
})

const withoutUsage = (key: string, value: unknown): unknown => (key === 'usage' ? undefined : value)

/** An upstream of moods: most answers are whole, some say nothing of usage, break off, fail or take their time. */
export const startMeteredUpstream = async (): Promise<MeteredUpstream> => {
  const served = new Map<string, Served>()
  const behave: Behaviour = async (body, response, { url = '' }) => {
    const usage = {
      prompt: 1 + Math.floor(Math.random() * 1000),
      completion: 1 + Math.floor(Math.random() * 100),
    }
    const entry: Served = { usage, completed: false, reported: false }
    served.set(USER.exec(JSON.stringify(body))![0], entry)
    const mood = Math.random()
    if (mood < 0.05) return void response.writeHead(500).end('{"error":{"message":"out of order"}}')
    const tells = mood > 0.15
    const breaks = mood > 0.95
    const told = (value: JsonObject) => JSON.stringify(value, tells ? undefined : withoutUsage)
    const script = scriptOf(url, body['model'] as string, turnOf(usage.prompt, usage.completion))
    await sleep(Math.random() * 20)
    if (body['stream'] !== true) {
      response.writeHead(200, { 'content-type': 'application/json' })
      if (breaks) return void response.write('{"id":', () => response.destroy())
      return void response.end(told(script.whole), () => finish(entry, tells))
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (event: JsonObject) => response.write(eventText(event, told(event)))
    for (const event of script.head) send(event)
    for (const event of script.content) {
      await sleep(Math.random() * 10)
      if (response.destroyed) return
      send(event)
    }
    if (breaks) return void response.destroy()
    for (const event of script.tail) send(event)
    response.end(() => finish(entry, tells))
  }
  const upstream = await startUpstream(behave)
  return { baseUrl: upstream.baseUrl, served, close: upstream.close }
}

const finish = (entry: Served, tells: boolean): void => {
  entry.completed = true
  entry.reported = tells
}
