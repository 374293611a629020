import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { dialling, type Dial } from '../../../src/adapters/outgoing/guard/connect-to-any.js'
import { webhookSender } from '../../../src/adapters/outgoing/webhook-sender/webhook-sender.js'

// Sends messages to the first address until this process is about as large as it gets, then to each of the others, and
// prints what each of them cost. Needs --expose-gc.
const [times = '1', ordinary = '', ...hostile] = process.argv.slice(2)

const WARMING = 300

const main = async (): Promise<void> => {
  const sockets = new Set<Socket>()
  const dial: Dial = (address, port) => {
    const socket = dialling(address, port)
    sockets.add(socket)
    return socket
  }
  const sender = webhookSender({ allowed: { cidrs: ['127.0.0.0/8'] }, dial })
  const send = (url: string) => sender.send({ url, headers: {}, body: Buffer.from('{}'), timeoutMs: 20_000 })
  const settled = async () => {
    globalThis.gc!()
    await sleep(20)
    return process.memoryUsage.rss()
  }
  const costOf = async (url: string) => {
    sockets.clear()
    const before = await settled()
    let highest = before
    const look = () => void (highest = Math.max(highest, process.memoryUsage.rss()))
    const looking = setInterval(look, 1)
    let kept = 0
    for (let at = 0; at < Number(times); at += 1) kept = Math.max(kept, (await send(url)).body.length)
    while ([...sockets].some(({ closed }) => !closed)) await sleep(5)
    look()
    clearInterval(looking)
    const read = Math.max(...[...sockets].map(({ bytesRead }) => bytesRead))
    return { grownWhile: highest - before, grownAfter: (await settled()) - before, read, kept }
  }

  for (let at = 0; at < WARMING; at += 1) await send(ordinary)
  const costs = []
  for (const url of hostile) costs.push(await costOf(url))
  process.stdout.write(JSON.stringify(costs))
  process.exit(0)
}

void main()
