import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { chunkOf, usageOf, wholeOf } from '../upstreams/behaviours.js'
import { startUpstream, type Behaviour, type ScriptedUpstream } from '../upstreams/upstream.js'

/** What the upstream knows of one request: what it said that it used, once it had said all of it. */
export interface Served {
  readonly usage: { readonly prompt: number; readonly completion: number }
  completed: boolean
  reported: boolean
}

export interface MeteredUpstream {
  readonly baseUrl: string
  /** By the `user` of the request, which tells requests apart. */
  readonly served: ReadonlyMap<string, Served>
  readonly close: ScriptedUpstream['close']
}

const WORDS = ['one', ' two', ' three', ' four']

/** An upstream of moods: most answers are whole, some say nothing of usage, break off, fail or take their time. */
export const startMeteredUpstream = async (): Promise<MeteredUpstream> => {
  const served = new Map<string, Served>()
  const behave: Behaviour = async (body, response) => {
    const usage = {
      prompt: 1 + Math.floor(Math.random() * 1000),
      completion: 1 + Math.floor(Math.random() * 100),
    }
    const entry: Served = { usage, completed: false, reported: false }
    served.set(body['user'] as string, entry)
    const mood = Math.random()
    if (mood < 0.05) return void response.writeHead(500).end('{"error":{"message":"out of order"}}')
    const tells = mood > 0.15
    const breaks = mood > 0.95
    const told = tells ? usageOf(usage.prompt, usage.completion) : null
    const model = body['model'] as string
    await sleep(Math.random() * 20)
    if (body['stream'] !== true) {
      const whole = wholeOf(model, WORDS.join(''), told ?? {})
      response.writeHead(200, { 'content-type': 'application/json' })
      if (breaks) return void response.write('{"id":', () => response.destroy())
      return void response.end(JSON.stringify(whole), () => finish(entry, tells))
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (choices: readonly JsonObject[], used: JsonObject | null = null) =>
      response.write(`data: ${JSON.stringify(chunkOf(model, choices, used))}\n\n`)
    send([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }])
    for (const content of WORDS) {
      await sleep(Math.random() * 10)
      if (response.destroyed) return
      send([{ index: 0, delta: { content }, finish_reason: null }])
    }
    if (breaks) return void response.destroy()
    send([{ index: 0, delta: {}, finish_reason: 'stop' }])
    if (told !== null) send([], told)
    response.end('data: [DONE]\n\n', () => finish(entry, tells))
  }
  const upstream = await startUpstream(behave)
  return { baseUrl: upstream.baseUrl, served, close: upstream.close }
}

const finish = (entry: Served, tells: boolean): void => {
  entry.completed = true
  entry.reported = tells
}
